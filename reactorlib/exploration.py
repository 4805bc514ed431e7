"""Runs a program with its independent reactions in other orders, and finds two reactions whose order matters.

A reactor program has one result because independent reactions share nothing. Nothing keeps them from it: a variable of
a module, a file, a mutable default argument or a cache may tie two of them together. On several workers such a program
then has one result today and another one tomorrow. Here each order is one that the workers might have taken, but it
runs in one thread, and its number brings it back.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from signal import SIGKILL
from time import monotonic
from typing import Any

from reactorlib.declaration.reactor import Reactor
from reactorlib.elaboration.records import Node, Order
from reactorlib.errors import ReactorError, RunError, WorkerError
from reactorlib.program import Program, elaborate
from reactorlib.runtime import run
from reactorlib.worker.recorder import digest_of

# A run's records in the program's own order, each as (time, microstep, reaction, digest of what it set), or its error.
Outcome = list[tuple[int, int, str, str]] | str
Nodes = Sequence[Node]


@dataclass(frozen=True, slots=True)
class Exploration:
    """The findings about the orders of a program. An exploration is true, as `same` is, if all orders had one result.

    `seed` is the first order with another result. `reactions` has the two reactions whose order alone changes it. It is
    empty where two runs in one order differ. `differs` says where results first differ.
    """

    orders: int
    seed: int | None = None
    reactions: tuple[str, ...] = ()
    differs: str = ""

    @property
    def same(self) -> bool:
        """Whether every order had the same result."""
        return not self.differs

    def __bool__(self) -> bool:
        return self.same

    def __str__(self) -> str:
        if self.same:
            return f"{self.orders} orders of independent reactions, one result"
        if not self.reactions:
            return f"two runs in one order differ: the program depends on more than its inputs\n    {self.differs}"
        one, other = self.reactions
        return (
            f"{one} and {other} share state: the result depends on which of them runs first (order {self.seed})\n"
            f"    {self.differs}"
        )


def explore(
    program: type[Reactor] | Program, /, *, seeds: int = 100, timeout: int | None = None, limit_s: float = 60.0,
    **parameters: Any,
) -> Exploration:  # fmt: skip
    """Run a program in that many random orders of its independent reactions, each in a process of its own.

    `timeout` ends each run at this logical time, in ns. The runs take no physical time, and Python's and NumPy's global
    generators begin them with one seed. Raises RunError if the program fails in its own order, WorkerError if a run
    takes longer than `limit_s` seconds.

    >>> from reactorlib import Bank, Output, Reactor, reaction, startup
    >>> from reactorlib.exploration import explore
    >>> drawn = []
    >>> class Draws(Reactor):
    ...     out = Output[int]()
    ...     @reaction(startup, effects=out)
    ...     def draw(self, out):
    ...         drawn.append(self)
    ...         out.set(len(drawn))
    >>> class Main(Reactor):
    ...     def __init__(self):
    ...         self.draws = Bank(Draws, 2)
    >>> explore(Main, seeds=20).reactions
    ('Main.draws[0].draw', 'Main.draws[1].draw')
    """
    made = program if isinstance(program, Program) else elaborate(program, **parameters)
    runs = _Runs(made, timeout, limit_s)
    own = runs.own
    result, again = runs.outcome(own), runs.outcome(own)
    if isinstance(result, str):
        raise RunError(f"the program fails in its own order, so others show nothing: {result}")
    if again != result:
        return Exploration(1, differs=_difference(result, again))
    for seed in range(seeds):
        other = runs.shuffled(seed)
        outcome = runs.outcome(other)
        if outcome != result:
            one, two = runs.tied(own, other, lambda order: runs.outcome(order) == result)
            paths = sorted((runs.path(one), runs.path(two)))
            return Exploration(seed + 1, seed, tuple(paths), _difference(result, outcome))
    return Exploration(seeds)


class _Runs:
    """The runs of one program, in given orders of its nodes."""

    def __init__(self, program: Program, timeout: int | None, limit_s: float) -> None:
        self._program = program
        self._timeout = timeout
        self._limit_s = limit_s
        rank = program.order.rank
        self.own = sorted(range(len(rank)), key=rank.__getitem__)
        self._following = self._edges()

    def path(self, node: Node) -> str:
        """The path of a reaction or of a copy."""
        reaction = self._program.graph.reaction(node)
        return self._program.graph.forward(node).path if reaction is None else reaction.path

    def _edges(self) -> list[list[Node]]:
        """For each node those that must follow it: they read what it sets, or are later reactions of its reactor.

        A node in another mode of the reactor may come before it in the program's order. It never runs at its tag.
        """
        graph, rank = self._program.graph, self._program.order.rank
        following = [
            [later for cell in cells for later in graph.readers.get(cell, ()) if rank[later] > rank[node]]
            for node, cells in enumerate(graph.writes)
        ]
        last: dict[Any, Node] = {}
        for node in self.own:
            reaction = graph.reaction(node)
            if reaction is not None:
                if reaction.instance in last:
                    following[last[reaction.instance]].append(node)
                last[reaction.instance] = node
        return following

    def shuffled(self, seed: int) -> list[Node]:
        """A random order that keeps to the dependencies."""
        from random import Random

        draw = Random(seed).randrange
        waiting = [0] * len(self.own)
        for following in self._following:
            for later in following:
                waiting[later] += 1
        ready = [node for node in self.own if not waiting[node]]
        order = []
        while ready:
            at = draw(len(ready))
            ready[at], ready[-1] = ready[-1], ready[at]
            order.append(node := ready.pop())
            for later in self._following[node]:
                waiting[later] -= 1
                if not waiting[later]:
                    ready.append(later)
        return order

    def tied(self, own: Nodes, other: Nodes, is_same: Callable[[Nodes], bool]) -> tuple[Node, Node]:
        """Two nodes which change the result when they alone change places, from between two orders that differ."""

        def begun(count: int) -> list[Node]:
            """The first nodes as in the other order, the rest as in the program's own."""
            first = {*other[:count]}
            return [*other[:count], *(node for node in own if node not in first)]

        moved = _first(len(other), lambda count: not is_same(begun(count))) - 1
        before, node = begun(moved), other[moved]
        place = before.index(node)

        def earlier(by: int) -> list[Node]:
            """The order in which this node runs this many places earlier."""
            rest = [one for one in before if one != node]
            return [*rest[: place - by], node, *rest[place - by :]]

        by = _first(place - moved, lambda places: not is_same(earlier(places)))
        return node, before[place - by]

    def outcome(self, order: Nodes) -> Outcome:
        """The result of a run in this order, by a child of this process."""
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            _answer(writer, lambda: self._run(order))
        os.close(writer)
        try:
            return _answered(reader, child, self._limit_s)
        finally:
            os.close(reader)
            os.kill(child, SIGKILL)  # it is there until it is waited for
            os.waitpid(child, 0)

    def _run(self, order: Nodes) -> Outcome:
        import random

        random.seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)
        rank = [0] * len(order)
        for position, node in enumerate(order):
            rank[node] = position
        program = replace(self._program, order=Order(self._program.order.level, tuple(rank)))
        try:
            trace = run(program, executor="inline", fast=True, timeout=self._timeout, trace=True).trace or []
        except ReactorError as error:
            return str(error)
        places = {reaction.path: place for place, reaction in enumerate(self._program.reactions)}
        rows = [(*record.tag, record.reaction, digest_of([record])) for record in trace]
        own = self._program.order.rank
        return sorted(rows, key=lambda row: (row[0], row[1], own[places[row[2]]]))


def _first(last: int, holds: Callable[[int], bool]) -> int:
    """A number from 1 to `last` for which it holds and for the one before it does not. It holds for the last."""
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _answer(writer: int, act: Callable[[], Any]) -> None:
    """In the child: write the result of a function, quietly, and leave at once."""
    import pickle

    try:
        quiet = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(quiet, descriptor)
        sys.stdout = sys.stderr = os.fdopen(quiet, "w", encoding="utf-8")
        answer: Any = act()
    except BaseException as error:  # noqa: BLE001  # the process ends
        answer = f"{type(error).__name__}: {error}"
    try:
        with open(writer, "wb") as pipe:
            pickle.dump(answer, pipe)
    finally:
        os._exit(0)


def _answered(reader: int, child: int, limit_s: float) -> Outcome:
    """The result that the child wrote."""
    import pickle
    import select

    until, parts = monotonic() + limit_s, list[bytes]()
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, until - monotonic()))
        if not ready:
            raise WorkerError(f"a run did not end within {limit_s:g} s: give a timeout, or a larger limit_s")
        part = os.read(reader, 1 << 16)
        if not part:
            break
        parts.append(part)
    if not parts:
        raise WorkerError(f"the process {child} of a run died")
    outcome: Outcome = pickle.loads(b"".join(parts))
    return outcome


def _difference(result: Outcome, outcome: Outcome) -> str:
    """The first difference between two outcomes."""
    if isinstance(result, str) or isinstance(outcome, str):
        return next(one for one in (outcome, result) if isinstance(one, str))
    one, other = next((a, b) for a, b in zip_longest(result, outcome) if a != b)
    time, microstep, reaction, _ = one or other
    what = "sets other values" if one and other and one[:3] == other[:3] else "runs in one of them only"
    return f"{reaction} {what} at tag ({time} ns, {microstep})"
