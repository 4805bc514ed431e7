"""Predictions: their times are exact, with messages and without."""

from __future__ import annotations

from harness.prediction import MessageCost, predict
from reactorlib import Bank, Input, Output, Program, Reactor, Tag, connect, elaborate, startup
from reactorlib.worker.recorder import Span
from tests.reactorlib.conformance.reactors import noted

COST = MessageCost(send_ns=10, receive_ns=5, latency_ns=20, byte_ns=0.5)


class Hub(Reactor):
    """Sends to all members, and gathers a reply of each."""

    replies = Input[int](width=lambda members: members)
    out = Output[int]()

    def __init__(self, members: int) -> None: ...

    begin, gather = noted(startup, effects=out), noted(replies)


class Member(Reactor):
    inp = Input[int]()
    reply = Output[int]()

    work = noted(inp, effects=reply)


class Star(Reactor):
    """A hub and its members. `later`: the messages that arrive at another tag."""

    def __init__(self, members: int, later: str = "") -> None:
        self.hub, self.members = Hub(members), Bank(Member, members)
        connect(self.hub.out, self.members.inp, after=0 if later == "given" else None)
        connect(self.members.reply, self.hub.replies, after=0 if later == "taken" else None)


def ran(program: Program, *tags: tuple[str, ...]) -> list[Span]:
    """As if these reactions had run at one tag after the other, each for 100 ns."""
    index = {reaction.path: reaction.index for reaction in program.reactions}
    return [Span(index[f"Star.{path}"], Tag(0, step), 0, 100, 0) for step, paths in enumerate(tags) for path in paths]


def total_ns(spans: list[Span], speed_up: dict[int, float], workers: int) -> float:
    return sum(span.ended_ns - span.began_ns for span in spans) / speed_up[workers]


def members(count: int) -> tuple[str, ...]:
    return tuple(f"members[{index}].work" for index in range(count))


def of_sizes(given: int, taken: int, count: int) -> list[list[tuple[str, int]]]:
    """The bytes that the hub's first reaction and then each member set."""
    replies = [[(f"Star.members[{index}].reply", taken)] for index in range(count)]
    return [[("Star.hub.out", given)], *replies, []]


def test_a_message_takes_time_of_both_processors_between_them_and_for_each_byte() -> None:
    program = elaborate(Star, members=2)
    spans = ran(program, ("hub.begin", *members(2), "hub.gather"))
    written = of_sizes(40, 8, 2)
    assert total_ns(spans, predict(program, spans, [2]), 2) == 300
    # Worker 0: Go 10, begin 100, give 10 + 20, work 100, then it waits. Worker 1 takes 5 from 140 + 20 on, works 100
    # and replies in 10 + 4. Worker 0 takes the reply 20 later in 5 and gathers in 100.
    found = predict(program, spans, [1, 2], cost=COST, written=written)
    assert total_ns(spans, found, 2) == 140 + 20 + 5 + 100 + 14 + 20 + 5 + 100
    assert found[1] == 1.0
    assert total_ns(spans, predict(program, spans, [2], cost=COST), 2) == total_ns(spans, found, 2) - 20 - 4


def test_workers_that_share_a_processor_take_turns() -> None:
    program = elaborate(Star, members=2)
    spans = ran(program, ("hub.begin", *members(2), "hub.gather"))
    found = predict(program, spans, [2], cost=COST, written=of_sizes(40, 8, 2), cores=1)
    # Worker 0 goes on until it waits, at 240; then worker 1 takes Go and the value, works, replies.
    assert total_ns(spans, found, 2) == 240 + 5 + 5 + 100 + 14 + 20 + 5 + 100
    even = [predict(program, spans, [2], cost=COST, cores=cores) for cores in (None, 2, 9)]
    assert even[0] == even[1] == even[2]


def test_as_many_processors_as_there_are_do_the_work_of_more_workers() -> None:
    program = elaborate(Star, members=4)
    spans = ran(program, ("hub.begin", *members(4), "hub.gather"))
    times = {cores: total_ns(spans, predict(program, spans, [4], cores=cores), 4) for cores in (1, 2, 3, 4)}
    assert times == {1: 600, 2: 400, 3: 400, 4: 300}


def test_what_is_given_later_comes_with_the_beginning_of_the_tag_and_is_encoded_once() -> None:
    program = elaborate(Star, members=3, later="given")
    spans = ran(program, ("hub.begin",), (*members(3), "hub.gather"))
    found = predict(program, spans, [3], cost=COST, written=of_sizes(40, 0, 3))
    # The first tag takes 100 ns. Then the message to worker 1 takes 10 + 20, and that to worker 2 takes 10. Worker 2
    # takes it at 40 + 20.
    assert total_ns(spans, found, 3) == 100 + 40 + 20 + 5 + 100 + 10 + 20 + 5 + 100


def test_what_is_to_be_taken_later_travels_to_the_worker_that_keeps_the_events() -> None:
    program = elaborate(Star, members=2, later="taken")
    spans = ran(program, ("hub.begin", *members(2)), ("hub.gather",))
    found = predict(program, spans, [2], cost=COST, written=of_sizes(40, 8, 2))
    assert total_ns(spans, found, 2) == 140 + 20 + 5 + 100 + 14 + 20 + 5 + 100


def test_a_tag_at_which_one_worker_has_nothing_to_do_costs_no_message() -> None:
    program = elaborate(Star, members=2, later="given")
    spans = ran(program, ("hub.begin",))
    assert total_ns(spans, predict(program, spans, [2, 64], cost=COST, written=[[("Star.hub.out", 40)]]), 64) == 100
