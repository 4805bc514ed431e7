"""A control loop with a deadline: a tank is filled to a level, and the valve closes if a command would come too late.

python -m reactorlib run examples/gallery/control_loop.py:Loop --timeout 1500ms
"""

import time

from reactorlib import MSEC, Input, Output, Reactor, Timer, connect, reaction, run

LATE_AT = 3  # the period in which the controller takes too long


class Tank(Reactor):
    """Loses a tenth of its content in each period, and gets the flow through its valve."""

    clock = Timer(period=300 * MSEC)
    level = Output[float]()
    flow = Input[float]()

    def __init__(self):
        self.content = 0.0

    @reaction(flow)
    def fill(self, flow):
        self.content += flow.value

    @reaction(clock, effects=level)
    def measure(self, clock, level):
        self.content *= 0.9
        level.set(self.content)


class Controller(Reactor):
    """Computes a flow from the level. The computation may take long."""

    level = Input[float]()
    flow = Output[float]()

    def __init__(self, target):
        self.target = target
        self.period = 0

    @reaction(level, effects=flow)
    def control(self, level, flow):
        self.period += 1
        if self.period == LATE_AT:
            time.sleep(0.25)
        flow.set(0.5 * (self.target - level.value))


class Valve(Reactor):
    """Passes a flow on within 150 ms of the measurement. After that it closes."""

    wanted = Input[float]()
    flow = Output[float]()

    @reaction(wanted, effects=flow, deadline=150 * MSEC)
    def turn(self, wanted, flow):
        print(f"flow {wanted.value:.2f}")
        flow.set(wanted.value)

    @turn.missed
    def close(self, wanted, flow):
        print("too late: closed")
        flow.set(0.0)


class Loop(Reactor):
    """Tank, controller and valve in a ring; the flow takes effect one microstep later."""

    def __init__(self, target=10.0):
        self.tank = Tank()
        self.controller = Controller(target)
        self.valve = Valve()
        connect(self.tank.level, self.controller.level)
        connect(self.controller.flow, self.valve.wanted)
        connect(self.valve.flow, self.tank.flow, after=0)


if __name__ == "__main__":
    run(Loop, timeout=1500 * MSEC)
