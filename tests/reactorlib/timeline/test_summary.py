"""Counts, waiting and critical paths, on spans made by hand: no clock is asked."""

import pytest

from reactorlib import Bank, Input, Output, Reactor, Tag, connect, elaborate, reaction, run, startup
from reactorlib.view.timeline import summarised
from reactorlib.view.timeline.causes import causes_by_tag
from reactorlib.worker.recorder import Span
from tests.reactorlib.conformance.reactors import noted


class Hub(Reactor):
    replies = Input(width="n")
    request = Output()

    def __init__(self, n): ...

    @reaction(startup, effects=request)
    def begin(self, request):
        request.set(1)

    gather = noted(replies)


class Worker(Reactor):
    request = Input(mutable=True)
    reply = Output()

    @reaction(request, effects=reply)
    def serve(self, request, reply):
        reply.set(request.value)

    note = noted(request)


class Main(Reactor):
    def __init__(self, n=2):
        self.hub = Hub(n)
        self.workers = Bank(Worker, n)
        connect(self.hub.request, self.workers.request)
        connect(self.workers.reply, self.hub.replies)


PROGRAM = elaborate(Main)
BEGIN, GATHER, SERVE_0, NOTE_0, SERVE_1, NOTE_1 = (reaction.index for reaction in PROGRAM.reactions)
TAG = Tag(0, 0)


def spans(*rows):
    """(reaction, began, ended, worker) at one tag, in the order of the program."""
    return [Span(reaction, TAG, began, ended, worker) for reaction, began, ended, worker in rows]


ROUND = spans(
    (BEGIN, 100, 110, 0), (SERVE_0, 112, 132, 0), (SERVE_1, 115, 145, 1), (NOTE_0, 132, 133, 0), (NOTE_1, 150, 151, 1),
    (GATHER, 149, 154, 0),
)  # fmt: skip


def by_path(summary):
    return {row.path: row for row in summary.reactions}


def test_causes_are_writers_and_the_same_reactors_earlier_reactions():
    ((at_tag, causes),) = causes_by_tag(PROGRAM, ROUND)
    assert at_tag == ROUND
    assert causes == [[], [0], [0], [0, 1], [0, 2], [0, 1, 2]]


def test_times_of_reactions_and_workers_add_up():
    summary = summarised(PROGRAM, ROUND, workers=2, unfold=True)
    assert (summary.tags, summary.elapsed_ns, summary.work_ns) == (1, 54, 67)
    assert summary.busy_ns == [36, 31]
    rows = by_path(summary)
    assert (rows["Main.workers[1].serve"].count, rows["Main.workers[1].serve"].total_ns) == (1, 30)


def test_a_bank_counts_as_one_reaction():
    row = by_path(summarised(PROGRAM, ROUND, workers=2))["Main.workers[*].serve"]
    assert (row.count, row.total_ns, row.longest_ns, row.mean_ns) == (2, 50, 30, 25)


def test_waiting_counts_from_when_all_else_was_done():
    rows = by_path(summarised(PROGRAM, ROUND, workers=2, unfold=True))
    waiting = {path.removeprefix("Main."): row.waiting_ns for path, row in rows.items()}
    assert waiting == {
        "hub.begin": 0, "workers[0].serve": 2, "workers[1].serve": 5, "workers[0].note": 0, "workers[1].note": 5,
        "hub.gather": 4,
    }  # fmt: skip


def test_the_critical_path_is_the_longest_chain_of_dependent_reactions():
    summary = summarised(PROGRAM, ROUND, workers=2, unfold=True)
    critical = {path: row.critical_ns for path, row in by_path(summary).items() if row.critical_ns}
    assert critical == {"Main.hub.begin": 10, "Main.workers[1].serve": 30, "Main.hub.gather": 5}
    assert summary.critical_ns == 45


def test_tags_are_barriers():
    later = [Span(s.reaction, Tag(0, 1), s.began_ns + 100, s.ended_ns + 100, s.worker) for s in ROUND]
    summary = summarised(PROGRAM, [*ROUND, *later], workers=2)
    assert (summary.tags, summary.critical_ns) == (2, 90)


def test_a_run_without_reactions_has_an_empty_summary():
    summary = summarised(PROGRAM, [])
    assert (summary.tags, summary.elapsed_ns, summary.critical_ns, summary.reactions) == (0, 0, 0, [])


@pytest.mark.parametrize(("executor", "workers"), [("inline", 1), ("threads", 2)])
def test_of_a_real_run_everything_is_counted(executor, workers):
    result = run(PROGRAM, executor=executor, workers=workers, trace=True)
    summary = summarised(PROGRAM, result.spans, result.workers)
    assert {row.path: row.count for row in summary.reactions} == {
        "Main.hub.begin": 1, "Main.hub.gather": 1, "Main.workers[*].serve": 2, "Main.workers[*].note": 2,
    }  # fmt: skip
    assert 0 < summary.critical_ns <= summary.work_ns == sum(summary.busy_ns)
