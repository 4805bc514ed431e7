"""The outside world: a thread schedules a physical action, a reaction has a deadline, a timer checks on both."""

import threading
import time

from reactorlib import (
    MSEC,
    Input,
    LogicalAction,
    Output,
    PhysicalAction,
    Reactor,
    Timer,
    connect,
    reaction,
    request_stop,
    run,
    shutdown,
    startup,
)


class Sensor(Reactor):
    """Turns what a thread measures into events with a tag."""

    sample = PhysicalAction[int]()
    measured = Output[int]()

    def __init__(self, samples: int = 5):
        self.samples = samples

    @reaction(startup, effects=sample)
    def listen(self, sample):
        threading.Thread(target=self.measure, args=(sample,), daemon=True).start()

    def measure(self, sample):
        for number in range(self.samples):
            sample.schedule(value=number)
            time.sleep(0.01)

    @reaction(sample, effects=measured)
    def pass_on(self, sample, measured):
        measured.set(sample.value)


class Motor(Reactor):
    """Acts on a measurement in time, or not at all, and repeats itself a little later."""

    measured = Input[int]()
    again = LogicalAction[int](min_delay=2 * MSEC)

    def __init__(self, samples: int = 5):
        self.samples = samples

    @reaction(measured, effects=again, deadline=500 * MSEC)
    def act(self, measured, again):
        print("sample", measured.value)
        again.schedule(value=measured.value)

    @act.missed
    def late(self, measured, again):
        print("too late for", measured.value)

    @reaction(again)
    def repeat(self, again):
        print("again", again.value)
        if again.value == self.samples - 1:
            request_stop()


class Control(Reactor):
    """A sensor, a motor, and a watch on both."""

    watch = Timer(offset=1 * MSEC, period=20 * MSEC)

    def __init__(self, samples: int = 5):
        self.sensor = Sensor(samples)
        self.motor = Motor(samples)
        self.seen = 0
        connect(self.sensor.measured, self.motor.measured)

    @reaction(watch, uses="sensor.measured")
    def check(self, watch, measured):
        self.seen += 1

    @reaction(shutdown)
    def end(self):
        print("done")


if __name__ == "__main__":
    run(Control)
