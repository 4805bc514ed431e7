"""Whole programs that combine rules, each with its exact trace. Random programs are in `tests/reactorlib/reference`."""

import threading
from collections.abc import Callable
from itertools import product

import pytest

from reactorlib import (
    MSEC,
    SEC,
    Bank,
    Input,
    Mode,
    Output,
    PhysicalAction,
    Reactor,
    State,
    Tag,
    Timer,
    connect,
    history,
    physical_elapsed,
    reaction,
    request_stop,
    reset,
    run,
    shutdown,
    startup,
)
from tests.reactorlib.observing import Execute, steps, values, written


class Amplifier(Reactor):
    inp = Input[int]()
    out = Output[int]()

    def __init__(self, factor: int):
        self.factor = factor

    @reaction(inp, effects=out)
    def scale(self, inp, out):
        out.set(inp.value * self.factor)


class Chain(Reactor):
    """Two amplifiers in a row, and the original passed through beside them."""

    inp = Input[int]()
    out = Output[int]()
    original = Output[int]()

    def __init__(self, factor: int):
        self.first, self.second = Amplifier(factor), Amplifier(factor)
        connect(self.inp, [self.first.inp])
        connect(self.first.out, self.second.inp)
        connect(self.second.out, self.out)
        connect(self.inp, self.original)


class Hierarchy(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    seen = Output[tuple]()

    def __init__(self):
        self.inner, self.outer = Chain(2), Chain(3)
        self.count = 0
        connect(self.inner.out, self.outer.inp)

    @reaction(tick, effects="inner.inp")
    def feed(self, tick, inp):
        self.count += 1
        inp.set(self.count)

    @reaction("outer.out", uses=["inner.original", "outer.original"], effects=seen)
    def read(self, out, inner, outer, seen):
        seen.set((inner.value, outer.value, out.value))


def test_hierarchy_with_pass_through_ports(execute: Execute) -> None:
    def round_of(time_ns: int, value: int) -> list[tuple[object, ...]]:
        path = "Hierarchy"
        return [
            (time_ns, 0, f"{path}.feed", (f"{path}.inner.inp", value)),
            (time_ns, 0, f"{path}.inner.first.scale", (f"{path}.inner.first.out", 2 * value)),
            (time_ns, 0, f"{path}.inner.second.scale", (f"{path}.inner.second.out", 4 * value)),
            (time_ns, 0, f"{path}.outer.first.scale", (f"{path}.outer.first.out", 12 * value)),
            (time_ns, 0, f"{path}.outer.second.scale", (f"{path}.outer.second.out", 36 * value)),
            (time_ns, 0, f"{path}.read", (f"{path}.seen", (value, 4 * value, 36 * value))),
        ]

    assert steps(execute(Hierarchy, timeout=1 * MSEC)) == round_of(0, 1) + round_of(1 * MSEC, 2)


class Pulse(Reactor):
    tick = Timer(offset=0, period=2 * MSEC)
    out = Output[int]()
    count = State(0)

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        out.set(self.count)
        self.count += 1


class Three(Reactor):
    inp = Input[int](width=3)
    seen = Output[tuple]()

    @reaction(inp, effects=seen)
    def hear(self, inp, seen):
        seen.set(tuple(port.value if port.is_present else None for port in inp))


class Overlapping(Reactor):
    """One pulse over three ways: delays shorter, equal and longer than its period."""

    def __init__(self):
        self.pulse, self.sink = Pulse(), Three()
        connect(self.pulse.out, self.sink.inp[0], after=1 * MSEC)
        connect(self.pulse.out, self.sink.inp[1], after=2 * MSEC)
        connect(self.pulse.out, self.sink.inp[2], after=5 * MSEC)


def test_overlapping_delays(execute: Execute) -> None:
    assert written(execute(Overlapping, timeout=9 * MSEC), "Overlapping.sink.seen") == [
        (1 * MSEC, 0, (0, None, None)),
        (2 * MSEC, 0, (None, 0, None)),
        (3 * MSEC, 0, (1, None, None)),
        (4 * MSEC, 0, (None, 1, None)),
        (5 * MSEC, 0, (2, None, 0)),
        (6 * MSEC, 0, (None, 2, None)),
        (7 * MSEC, 0, (3, None, 1)),
        (8 * MSEC, 0, (None, 3, None)),
        (9 * MSEC, 0, (4, None, 2)),
    ]


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


class Operator(Reactor):
    """Reports a fault at 4 ms and its repair at 10 ms."""

    tick = Timer(offset=4 * MSEC, period=6 * MSEC)
    fault = Output[bool]()
    count = State(0)

    @reaction(tick, effects=fault)
    def report(self, tick, fault):
        self.count += 1
        if self.count <= 2:
            fault.set(self.count == 1)


class Controller(Reactor):
    def __init__(self):
        self.operator, self.furnace = Operator(), Furnace()
        connect(self.operator.fault, self.furnace.fault)


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


class Camera(Reactor):
    frame = Timer(offset=0, period=400 * MSEC)
    image = Output[int]()
    count = State(0)

    @reaction(frame, effects=image)
    def take(self, frame, image):
        self.count += 1
        image.set(self.count)


class Braking(Reactor):
    """Handles a missed deadline: the brake is late at the second frame, whose analysis takes too long."""

    image = Input[int]()
    brake = Output[str]()

    @reaction(image, effects=brake, deadline=200 * MSEC)
    def act(self, image, brake):
        brake.set(f"brake {image.value}")

    @act.missed
    def emergency(self, image, brake):
        brake.set(f"emergency {image.value}")


class Analysis(Reactor):
    image = Input[int]()
    result = Output[int]()

    def __init__(self, slow: int):
        self.slow = slow

    @reaction(image, effects=result)
    def analyse(self, image, result):
        if image.value == self.slow:
            while physical_elapsed() < 601 * MSEC:
                pass
        result.set(image.value)


class Vehicle(Reactor):
    def __init__(self, slow: int):
        self.camera, self.analysis, self.braking = Camera(), Analysis(slow), Braking()
        connect(self.camera.image, self.analysis.image)
        connect(self.analysis.result, self.braking.image)


def test_deadline_miss_handling(execute: Execute) -> None:
    """In fast mode, so that only the slow frame, whose body waits past its deadline, is late."""
    result = execute(Vehicle, slow=2, timeout=400 * MSEC)
    assert steps(result) == [
        (0, 0, "Vehicle.camera.take", ("Vehicle.camera.image", 1)),
        (0, 0, "Vehicle.analysis.analyse", ("Vehicle.analysis.result", 1)),
        (0, 0, "Vehicle.braking.act", ("Vehicle.braking.brake", "brake 1")),
        (400 * MSEC, 0, "Vehicle.camera.take", ("Vehicle.camera.image", 2)),
        (400 * MSEC, 0, "Vehicle.analysis.analyse", ("Vehicle.analysis.result", 2)),
        (400 * MSEC, 0, "Vehicle.braking.act", ("Vehicle.braking.brake", "emergency 2")),
    ]


class Driver:
    """A callback interface such as a device's: calls back from its own thread, as often as it is told to."""

    def __init__(self, readings: int):
        self.readings = readings

    def start(self, callback: Callable[[int], None]) -> threading.Thread:
        def work() -> None:
            for reading in range(self.readings):
                callback(reading)

        thread = threading.Thread(target=work)
        thread.start()
        return thread


class Device(Reactor):
    reading = PhysicalAction[int]()
    out = Output[int]()

    def __init__(self, readings: int):
        self.driver = Driver(readings)

    @reaction(startup, effects=reading)
    def begin(self, reading):
        self.thread = self.driver.start(lambda value: reading.schedule(value=value))

    @reaction(reading, effects=out)
    def publish(self, reading, out):
        out.set(reading.value)

    @reaction(shutdown)
    def end(self):
        self.thread.join(timeout=10)


class Average(Reactor):
    inp = Input[int]()
    mean = Output[float]()

    def __init__(self, count: int):
        self.count, self.seen = count, []

    @reaction(inp, effects=mean)
    def add(self, inp, mean):
        self.seen.append(inp.value)
        if len(self.seen) == self.count:
            mean.set(sum(self.seen) / self.count)
            request_stop()


class Monitoring(Reactor):
    def __init__(self, readings: int):
        self.device, self.average = Device(readings), Average(readings)
        connect(self.device.out, self.average.inp)


@pytest.mark.usefixtures("path")
def test_asynchronous_callback_source() -> None:
    result = run(Monitoring, readings=5, timeout=20 * SEC, trace=True)
    published = written(result, "Monitoring.device.out")
    assert [value for *_, value in published] == [0, 1, 2, 3, 4]
    tags = [step[:2] for step in published]
    assert tags == sorted(set(tags))
    assert values(result, "Monitoring.average.mean") == [2.0]
    assert steps(result)[0] == (0, 0, "Monitoring.device.begin")
    assert steps(result)[-1][2] == "Monitoring.device.end"
    assert result.tag == Tag(tags[-1][0], tags[-1][1] + 1)


class Grid(Reactor):
    """Nested banks all at one tag: what stands in the trace is the order of elaboration."""

    def __init__(self):
        self.rows = Bank(Row, 2)


class Row(Reactor):
    def __init__(self):
        self.cells = Bank(Leaf, 3)


class Leaf(Reactor):
    @reaction(startup)
    def begin(self): ...


def test_grid_of_nested_banks(execute: Execute) -> None:
    assert steps(execute(Grid)) == [
        (0, 0, f"Grid.rows[{row}].cells[{cell}].begin") for row, cell in product(range(2), range(3))
    ]
