"""Turns on a clock that counts, and a channel whose other end is a list."""

import contextlib
import itertools
import math

import pytest

from harness.measure.turn import BIN, Turns


class Engine:
    """Gives these turns, each with its lead, and keeps the messages that it receives."""

    def __init__(self, *orders):
        self.orders = list(orders)
        self.told = []
        self.durations = []

    def tell(self, content):
        self.told.append({name: value for name, value in content.items() if name != "durations"})
        self.durations.append(content.get("durations"))

    def hear(self):
        if not self.orders:
            raise EOFError
        turn_ns, lead_ns = self.orders.pop(0)
        return {"turn_ns": turn_ns, "lead_ns": lead_ns}


class Clock:
    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


def play(engine, rounds, at_once=1, **options):
    """Run rounds of these wall times and CPU times until the engine gives no more turns; how many there were."""
    clock, cpu, count = Clock(), Clock(), 0
    turns = Turns(engine, clock=clock, cpu_clock=cpu, **options)
    with contextlib.suppress(EOFError):
        turns.begin()
        for wall_ns, cpu_ns in rounds:
            count += at_once
            clock.now += wall_ns * at_once
            cpu.now += cpu_ns * at_once
            turns.passed(at_once)
    return count


def alike(round_ns):
    """Endless rounds that compute all the time."""
    return itertools.repeat((round_ns, round_ns))


@pytest.mark.parametrize(
    ("lead_ns", "round_ns", "rounds", "all_rounds"), [(0, 30, 4, 4), (50, 10, 10, 15), (0, 700, 1, 1), (50, 700, 1, 2)]
)
def test_a_turn_is_whole_rounds_and_the_lead_before_it_is_not_timed(lead_ns, round_ns, rounds, all_rounds):
    engine = Engine((100, lead_ns), (100, lead_ns))
    play(engine, alike(round_ns))
    ready, *turns = engine.told
    taken_ns = rounds * round_ns
    assert ready == {}
    assert turns == [{"rounds": rounds, "wall_ns": taken_ns, "cpu_ns": taken_ns, "all_rounds": all_rounds}] * 2


def test_the_first_rounds_are_verified_before_any_turn():
    seen = []
    engine = Engine((100, 0))
    rounds = play(engine, alike(10), verify_rounds=7, settled=lambda: seen.append(len(engine.told)) or {"digest": "d"})
    assert seen == [0]
    assert engine.told[0] == {"digest": "d"}
    assert engine.told[1]["all_rounds"] == rounds - 7


@pytest.mark.parametrize("at_once", [1, 5])
def test_rounds_that_are_reported_together_count_as_many_and_are_not_told_apart(at_once):
    engine = Engine((100, 0))
    play(engine, alike(4), at_once=at_once)
    assert engine.told[1]["wall_ns"] == 4 * engine.told[1]["rounds"]
    assert engine.told[1]["rounds"] % at_once == 0
    assert (engine.durations[1] is None) == (at_once > 1)


def test_a_turn_tells_how_many_of_its_timed_rounds_took_how_long():
    engine = Engine((100, 1), (100, 50))
    play(engine, ((wall_ns, 1) for wall_ns in (7, 40, 40, 30, 60, 20, 50, 40)))  # 7 and 60 are leads
    for told, expected in zip(engine.durations[1:], [{30: 1, 40: 2}, {20: 1, 40: 1, 50: 1}], strict=True):
        numbers, counts = told
        assert counts == list(expected.values())
        assert [math.exp(number * BIN) for number in numbers] == pytest.approx(list(expected), rel=0.011)


def test_the_cpu_time_is_that_of_the_timed_rounds_alone():
    engine = Engine((100, 50), (100, 0))
    play(engine, [(60, 59), (50, 2), (50, 3), (100, 7)])  # the first is a lead, cold
    assert [told["cpu_ns"] for told in engine.told[1:]] == [5, 7]


def test_the_wall_time_is_not_charged_with_reading_the_cpu_time():
    engine, clock = Engine((100, 50), (100, 0)), Clock()

    def slow():
        clock.now += 1_000
        return clock.now

    turns = Turns(engine, clock=clock, cpu_clock=slow)
    turns.begin()
    for _ in range(2):
        clock.now += 100
        turns.passed()
    clock.now += 100
    with pytest.raises(EOFError):
        turns.passed()
    assert [told["wall_ns"] for told in engine.told[1:]] == [100, 100]
