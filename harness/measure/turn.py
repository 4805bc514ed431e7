"""A turn, and how a running program waits for its own between two rounds.

Owns the subject's end of the channel to the engine. Imports nothing that is measured.

A program reports each round. The first rounds may be verified. Then it reports that it is ready, and blocks in a read.
An order, a line of JSON, gives it a turn. For `lead_ns` it runs whole rounds that are not timed, which take the cost of
cold caches and of waking. For `turn_ns` it runs whole rounds that are timed. Both are at least one round, but a lead of
0 has none. It answers with what the turn took, and how many rounds took how long, and blocks again.
"""

import json
import math
import os
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter_ns, process_time_ns
from typing import Any

import numpy as np

# Round times are counted by their logarithm, in bins one percent wide.
BIN = math.log(1.01)


class ProgramEnds(BaseException):
    """The engine wants no more of the program, but keeps its process. Passes through the program, whose own handlers of
    exceptions don't take it for an error.
    """


@dataclass(frozen=True)
class Turn:
    """The whole rounds of a turn, their wall time and their CPU time.

    `cpu_ns`: of its process for a subject that is `on_one_cpu`. Of any other it is that of the whole process tree with
    the lead, times the share of timed rounds. `durations`: how many rounds took exp(number * BIN) ns to a bin more, by
    that number. It is empty if rounds were not reported one by one.
    """

    rounds: int
    wall_ns: int
    cpu_ns: int
    durations: Mapping[int, int] = field(default_factory=dict)

    @property
    def round_ns(self) -> float:
        return self.wall_ns / self.rounds


class Channel:
    """Lines of JSON to the engine and from it, in any process that has inherited the descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def tell(self, content: Mapping[str, Any]) -> None:
        data = json.dumps(content).encode() + b"\n"
        while data:
            data = data[os.write(self._descriptor, data) :]

    def hear(self) -> dict[str, Any]:
        """Wait for a line. Ends this process where nobody is left to measure for: an exception would have to pass
        through what is measured.
        """
        line = b""
        while not line.endswith(b"\n"):
            chunk = os.read(self._descriptor, 4096)  # the engine waits for the answer: never more than a line
            if not chunk:
                os._exit(1)
            line += chunk
        order: dict[str, Any] = json.loads(line)
        return order


class Turns:
    """A program's turns. It calls `begin` before its first round, and `passed` after every round.

    `settled`: called after the first `verify_rounds` rounds, for the report to the engine. `clock` and
    `cpu_clock`, of this process's CPU time, return ns.
    """

    def __init__(
        self,
        channel: Channel,
        verify_rounds: int = 0,
        settled: Callable[[], Mapping[str, Any]] = dict,
        clock: Callable[[], int] = perf_counter_ns,
        cpu_clock: Callable[[], int] = process_time_ns,
    ) -> None:
        self._channel = channel
        self._verify_rounds = verify_rounds
        self._settled = settled
        self._clock = clock
        self._cpu_clock = cpu_clock
        self._due_ns = 0  # when the present stage is over
        self._done = 0  # rounds since the turn's order came
        self._lead = 0  # those of them that are not timed
        self._began_ns: int | None = None  # when the timed part began
        self._cpu_began_ns = 0
        self._turn_ns = 0
        self._stamps = array("q")  # of a turn: when its timed part began, and when each round was reported

    def begin(self) -> None:
        """Wait for the first turn if nothing is verified."""
        if not self._verify_rounds:
            self._wait(self._settled())

    def passed(self, rounds: int = 1) -> None:
        self._done += rounds
        now = self._clock()
        self._stamps.append(now)
        if now >= self._due_ns:
            self._next_stage(now)

    def _next_stage(self, now: int) -> None:
        if self._verify_rounds:
            if self._done >= self._verify_rounds:
                self._verify_rounds = 0
                self._wait(self._settled())
        elif self._began_ns is None:  # the lead is over
            self._begin()
        else:
            cpu_ns = self._cpu_clock() - self._cpu_began_ns
            rounds, wall_ns = self._done - self._lead, now - self._began_ns
            told: dict[str, Any] = {"rounds": rounds, "wall_ns": wall_ns, "cpu_ns": cpu_ns, "all_rounds": self._done}
            if len(self._stamps) - 1 == rounds:
                told["durations"] = self._durations()
            self._wait(told)

    def _begin(self) -> None:
        """Begin the timed part: read the CPU time first, which takes longer than reading the clock."""
        self._lead, self._cpu_began_ns = self._done, self._cpu_clock()
        now = self._clock()
        self._due_ns, self._began_ns = now + self._turn_ns, now
        self._stamps = array("q", (now,))

    def _durations(self) -> list[list[int]]:
        """Numbers of bins, and how many rounds are in each."""
        taken = np.diff(np.frombuffer(self._stamps, dtype=np.int64)).clip(1)
        numbers, counts = np.unique((np.log(taken) / BIN).astype(np.int64), return_counts=True)
        return [numbers.tolist(), counts.tolist()]

    def _wait(self, answer: Mapping[str, Any]) -> None:
        self._channel.tell(answer)
        order = self._channel.hear()
        if "end" in order:
            raise ProgramEnds
        self._turn_ns = order["turn_ns"]
        self._done = self._lead = 0
        self._began_ns, self._due_ns = None, self._clock() + order["lead_ns"]
        if not order["lead_ns"]:
            self._begin()
