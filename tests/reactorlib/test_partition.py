"""The placement of reactors: banks spread evenly, all else by what can run side by side, and a given one stays."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Bank,
    Input,
    Output,
    PhysicalAction,
    Reactor,
    Timer,
    connect,
    elaborate,
    reaction,
    run,
    startup,
)
from reactorlib.errors import RunError
from reactorlib.schedule.moments import moments_of
from reactorlib.schedule.partition import Partition, partition, worker_of_member
from tests.reactorlib.conformance.reactors import Source, noted

TIMES = (0, 1, 2, 3, 4, 6, 12)  # in ms, of random programs


class Leaf(Reactor):
    inp = Input[int]()
    out = Output[int]()
    answer = noted(inp, effects=out)


class Group(Reactor):
    inp = Input[int]()

    def __init__(self) -> None:
        self.leaf = Bank(Leaf, 3)
        connect(self.inp, self.leaf.inp)


class Ear(Reactor):
    event = PhysicalAction[int]()
    hear = noted(event)


class Main(Reactor):
    start = Output[int]()

    def __init__(self, leaves: int = 6) -> None:
        self.leaf = Bank(Leaf, leaves)
        self.group = Bank(Group, 2)
        self.single = Leaf()
        self.alone = Group()
        self.ear = Bank(Ear, 2)


def places(found: Partition, leaves: int = 6) -> dict[str, int]:
    program = elaborate(Main, leaves=leaves)
    return {instance.path: worker for instance, worker in zip(program.instances, found.of_instance, strict=True)}


def leaf_workers(workers: int, leaves: int) -> list[int]:
    found = places(partition(elaborate(Main, leaves=leaves), workers), leaves)
    return [found[f"Main.leaf[{number}]"] for number in range(leaves)]


@pytest.mark.parametrize(
    ("workers", "leaves", "expected"),
    [
        (1, 4, [0, 0, 0, 0]),
        (2, 4, [0, 0, 1, 1]),
        (2, 5, [0, 0, 0, 1, 1]),
        (3, 7, [0, 0, 0, 1, 1, 2, 2]),
        (5, 3, [0, 1, 2]),
    ],
)
def test_members_of_a_bank_are_spread_evenly(workers, leaves, expected):
    assert leaf_workers(workers, leaves) == expected


def test_what_no_event_reaches_is_with_the_first_worker_and_members_keep_their_contents():
    found = places(partition(elaborate(Main), 2))
    assert (found["Main"], found["Main.single"]) == (0, 0)
    assert [found[f"Main.group[1].leaf[{number}]"] for number in range(3)] == [1, 1, 1]


def test_what_declares_a_physical_action_is_with_the_event_queue():
    found = places(partition(elaborate(Main), 2, {"Main.ear[1]": 1}))
    assert (found["Main.ear[0]"], found["Main.ear[1]"]) == (0, 0)


def test_placement_holds_for_all_that_a_reactor_contains():
    placed = {"Main.group[0]": 2, "Main.group[0].leaf[1]": 1, "Main.alone": 2}
    found = places(partition(elaborate(Main), 3, placed))
    assert [found[f"Main.group[0].leaf[{number}]"] for number in range(3)] == [2, 1, 2]
    assert [found[f"Main.alone.leaf[{number}]"] for number in range(3)] == [2, 2, 2]


@pytest.mark.parametrize(
    ("placement", "complaint"),
    [
        ({"Main.sinlge": 1}, r"no reactor of this program: 'Main.sinlge': did you mean 'Main.single'\?"),
        ({"Main.single": "1"}, "puts Main.single on worker '1', there are workers 0 to 1$"),
        ({"Main.single": 2}, "puts Main.single on worker 2, there are workers 0 to 1$"),
    ],
)
def test_a_placement_that_cannot_be_says_what_could(placement, complaint):
    with pytest.raises(RunError, match=complaint):
        partition(elaborate(Main), 2, placement)


class Clock(Reactor):
    tick, out = Timer(offset="offset", period="period"), Output[int]()

    def __init__(self, offset: int = 0, period: int = 1 * MSEC) -> None: ...

    @reaction(tick, effects=out)
    def send(self, tick, out):
        out.set(0)


class Stage(Reactor):
    inp, out = Input[int](), Output[int]()

    @reaction(inp, effects=out)
    def work(self, inp, out):
        out.set(inp.value + 1)


class Begun(Stage):
    begin = noted(startup, effects=Stage.out)


class End(Reactor):
    inp = Input[int]()
    hear = noted(inp)


class Pipeline(Reactor):
    """Three stages in a row, and what ends them."""

    def __init__(self, after: int | None = 1 * MSEC, period: int = 1 * MSEC) -> None:
        self.clock, self.a, self.b, self.c, self.end = Clock(period=period), Stage(), Stage(), Stage(), End()
        connect(self.clock.out, self.a.inp)
        connect(self.a.out, self.b.inp, after=after)
        connect(self.b.out, self.c.inp, after=after)
        connect(self.c.out, self.end.inp)


def workers_of(main: type[Reactor], workers: int, **parameters: Any) -> tuple[str, int]:
    """The workers of all reactors but the main one, one digit each, and how many of them run side by side."""
    found = partition(elaborate(main, **parameters), workers)
    return "".join(map(str, found.of_instance[1:])), found.abreast


@pytest.mark.parametrize(
    ("workers", "expected"), [(1, ("00000", 1)), (2, ("01100", 2)), (3, ("00120", 3)), (4, ("00120", 3))]
)
def test_stages_with_delays_are_a_pipeline(workers, expected):
    assert workers_of(Pipeline, workers) == expected


def test_the_source_of_a_program_shows_the_pipeline():
    text = elaborate(Pipeline).source("clock.tick", "a.out", "b.out", workers=3)
    assert text.splitlines()[:3] == [
        "# worker 0: Pipeline, Pipeline.clock, Pipeline.a, Pipeline.end",
        "# worker 1: Pipeline.b",
        "# worker 2: Pipeline.c",
    ]
    assert [part.partition("\n")[2].count("_work(") for part in text.split("\n# worker")[3:]] == [1, 1, 1]


@pytest.mark.parametrize(
    ("after", "period"), [(None, 1 * MSEC), (0, 1 * MSEC), (1 * MSEC, 3 * MSEC), (1 * MSEC, 10 * MSEC)]
)
def test_stages_that_never_run_at_one_tag_or_need_each_other_stay_together(after, period):
    assert workers_of(Pipeline, 3, after=after, period=period) == ("00000", 1)


def test_a_value_that_goes_around_a_ring_is_at_one_reactor_at_a_time():
    class Ring(Reactor):
        def __init__(self) -> None:
            self.first, self.others = Begun(), [Stage() for _ in range(2)]
            connect([self.first.out, self.others[0].out], [stage.inp for stage in self.others], after=0)
            connect(self.others[1].out, self.first.inp, after=0)

    ring = elaborate(Ring)
    moments = moments_of(ring)
    assert len({moments[reaction.index] for reaction in ring.reactions if reaction.path != "Ring.first.begin"}) == 3
    assert partition(ring, 2).abreast == 1  # although the list is spread


def test_after_a_logical_action_any_reactors_may_meet():
    class Paced(Reactor):
        def __init__(self) -> None:
            self.source, self.a, self.b = Source(1, 2), Stage(), Stage()
            connect(self.source.out, self.a.inp)
            connect(self.a.out, self.b.inp, after=1 * MSEC)

    assert workers_of(Paced, 3) == ("001", 2)


def test_a_reactor_joins_what_it_reads_and_one_that_sets_nothing_the_caller():
    class Chains(Reactor):
        def __init__(self) -> None:
            self.one, self.other, self.next_of_other, self.next_of_one = Clock(), Clock(), Begun(), Begun()
            self.end = End()
            connect(self.one.out, self.next_of_one.inp)
            connect(self.other.out, self.next_of_other.inp)
            connect(self.next_of_other.out, self.end.inp)

    assert workers_of(Chains, 2) == ("01100", 2)


class Collector(Reactor):
    inp = Input[int](width=2)

    def __init__(self, found: list[int]) -> None:
        self.found = found

    @reaction(inp)
    def collect(self, inp):
        self.found += [channel.value for channel in inp]


class Collected(Reactor):
    """Two sources, and a list of the caller's that a reactor without an output fills: alone, or beside a stage."""

    def __init__(self, found: list[int], beside: bool) -> None:
        self.one, self.other, self.collector = Source(1), Source(1), Collector(found)
        connect(self.one.out, self.collector.inp[0])
        connect(self.other.out, self.collector.inp[1])
        if beside:
            self.stages = Bank(Stage, 2)
            connect([self.one.out, self.other.out], self.stages.inp)


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("beside", [False, True])
def test_what_collects_for_the_caller_stays_with_the_caller(executor, beside):
    found = []
    run(Collected, found=found, beside=beside, fast=True, executor=executor, workers=3)
    assert found == [1, 1]


def test_the_main_reactor_stays_and_others_make_room():
    class Hearing(Reactor):
        out = Output[int]()

        def __init__(self) -> None:
            self.one, self.other, self.next_of_one = Clock(), Clock(), Stage()
            connect(self.one.out, self.next_of_one.inp)

        hear = noted("other.out", effects=out)

    assert partition(elaborate(Hearing), 2).of_instance == (0, 0, 1, 1)


class Member(Reactor):
    inp, out, ready = Input[int](), Output[int](), Output[int]()
    begin = noted(startup, effects=ready)
    work = noted(inp, effects=out)


class Hub(Reactor):
    """Starts when all members have, and gathers what they send."""

    ready, replies, out = Input[int](width=3), Input[int](width=3), Output[int]()
    start = noted(ready, effects=out)
    gather = noted(replies, effects=out)


class Farm(Reactor):
    """A hub with a bank, and a stage that works when the bank does."""

    def __init__(self) -> None:
        self.clock, self.stage, self.hub, self.members = Clock(), Stage(), Hub(), Bank(Member, 3)
        connect(self.clock.out, self.stage.inp)
        connect(self.clock.out, self.members.inp)
        connect(self.members.ready, self.hub.ready)
        connect(self.members.out, self.hub.replies)


class Uneven(Reactor):
    """A clock that always ticks with those of a bank."""

    def __init__(self) -> None:
        self.clock, self.members = Clock(), Bank(Clock, 3)


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8])
def test_a_bank_is_placed_as_ever_and_nothing_leaves_the_caller_for_it_unless_workers_are_idle(workers):
    expected = tuple(worker_of_member(member, 3, workers) for member in range(3))
    uneven, farm = (partition(elaborate(main), workers).of_instance for main in (Uneven, Farm))
    assert uneven[1:] == (0 if workers <= 3 else 3, *expected)
    assert (farm[1], *farm[3:]) == (0, 0, *expected)


def test_with_a_placement_what_it_does_not_name_stays():
    assert partition(elaborate(Pipeline), 3, {}).of_instance == (0, 0, 0, 0, 0, 0)
    assert partition(elaborate(Pipeline), 3, {"Pipeline.b": 2}).of_instance == (0, 0, 0, 2, 0, 0)


class Join(Stage):
    other = Input[int]()

    @reaction(Stage.inp, other, effects=Stage.out)
    def work(self, inp, other, out):
        out.set(1)


class Web(Reactor):
    """Clocks and stages with random connections, most of them delayed, some back to where they come from."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        unit = chance.choice([0, MSEC])  # of delays
        self.clocks = [Clock(chance.choice(TIMES) * MSEC, chance.choice(TIMES) * MSEC) for _ in range(2)]
        self.stages = [Join() for _ in range(6)]
        reactors: list[Any] = [*self.clocks, *self.stages]
        for number, stage in enumerate(self.stages):
            before = reactors[: number + len(self.clocks)]
            delays = [None if chance.random() < 0.3 else chance.choice(TIMES) * unit for _ in range(2)]
            connect(chance.choice(before).out, stage.inp, after=delays[0])
            if chance.random() < 0.2:
                connect(chance.choice(before).out, stage.other, after=delays[1])
            elif chance.random() < 0.2:
                connect(chance.choice(self.stages).out, stage.other, after=chance.choice(TIMES[1:]) * MSEC)


def test_reactions_of_different_moments_never_run_at_one_tag():
    apart = 0
    for seed in range(200):
        program = elaborate(Web, seed=seed)
        moments = moments_of(program)
        of = {reaction.path: moments[reaction.index] for reaction in program.reactions if reaction.index in moments}
        met = defaultdict(set)
        for record in run(program, timeout=30 * MSEC, fast=True, trace=True).trace or ():
            met[record.tag].add(of[record.reaction])
        assert all(len(found) == 1 for found in met.values()), seed
        apart += len(set(of.values())) > 1
    assert apart > 50
