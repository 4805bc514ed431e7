"""A whole program that combines rules, with its exact trace. Random programs are in `tests/reactorlib/reference`."""

from reactorlib import (
    MSEC,
    Input,
    Mode,
    Output,
    Reactor,
    Timer,
    connect,
    history,
    reaction,
    reset,
)
from tests.reactorlib.conformance.reactors import NOTHING, Source
from tests.reactorlib.observing import Execute, steps


class Furnace(Reactor):
    """Heats in steps until it is hot, cools until it is cold; a fault suspends it and history takes it up again."""

    heating = Mode(initial=True)
    cooling = Mode()
    broken = Mode()
    fault = Input[bool]()
    power = Output[int]()

    def __init__(self):
        self.heat = 0

    with heating:
        warm = Timer(offset=3 * MSEC, period=3 * MSEC)

        @reaction(warm, effects=[power, reset(cooling)])
        def step_up(self, warm, power, cooling):
            self.heat += 1
            power.set(self.heat)
            if self.heat == 3:
                cooling.set()

        @reaction(fault, effects=history(broken))
        def breaks(self, fault, broken):
            if fault.value:
                broken.set()

    with broken:

        @reaction(fault, effects=history(heating))
        def repaired(self, fault, heating):
            if not fault.value:
                heating.set()

    with cooling:
        cool = Timer(offset=0, period=4 * MSEC)

        @reaction(reset, effects=power)
        def enter(self, power):
            power.set(0)

        @reaction(cool, effects=[power, reset(heating)])
        def step_down(self, cool, power, heating):
            self.heat -= 1
            power.set(-self.heat)
            if not self.heat:
                heating.set()


class Controller(Reactor):
    """Reports a fault at 4 ms and its repair at 10 ms."""

    def __init__(self):
        self.operator, self.furnace = (
            Source(NOTHING, NOTHING, True, NOTHING, NOTHING, False, period=2 * MSEC),
            Furnace(),
        )
        connect(self.operator.out, self.furnace.fault)


def test_modal_controller_with_history(execute: Execute) -> None:
    result = execute(Controller, timeout=31 * MSEC)
    controlled = [step for step in steps(result) if "furnace" in step[2]]
    power = "Controller.furnace.power"
    assert [
        (at / MSEC, microstep, path.rpartition(".")[2], *writes) for at, microstep, path, *writes in controlled
    ] == [
        (3, 0, "step_up", (power, 1)),
        (4, 0, "breaks"),  # the next step, at 6 ms, is 2 ms away
        (10, 0, "repaired"),
        (12, 0, "step_up", (power, 2)),
        (15, 0, "step_up", (power, 3)),
        (15, 1, "enter", (power, 0)),
        (15, 1, "step_down", (power, -2)),
        (19, 0, "step_down", (power, -1)),
        (23, 0, "step_down", (power, 0)),
        (26, 0, "step_up", (power, 1)),
        (29, 0, "step_up", (power, 2)),
    ]
