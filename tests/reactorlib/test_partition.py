"""The placement of reactors: banks spread evenly, all else goes to the first worker, and a given placement stays."""

from __future__ import annotations

import pytest

from reactorlib import Bank, Input, Output, PhysicalAction, Reactor, connect, elaborate
from reactorlib.errors import RunError
from reactorlib.schedule.partition import Partition, partition
from tests.reactorlib.conformance.reactors import noted


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


def test_all_else_is_with_the_first_worker_and_members_keep_their_contents():
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
