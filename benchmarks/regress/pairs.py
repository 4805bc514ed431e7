"""Pairs of fresh processes, one per tree, that take turns lap by lap. Owns the processes; judges nothing.

Turns of milliseconds: whatever slows the machine for longer slows a lap of either tree and cancels in their ratio.
Fresh processes: what one process happens to have in memory next to what is one sample, not the rule.
"""

from __future__ import annotations

import json
import math
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any, Self

from benchmarks.meter import Cost
from benchmarks.regress.errors import CannotCompareError
from benchmarks.regress.subjects import Subject
from benchmarks.regress.trees import Trees
from harness.manager import WORKER_VARIABLES

LAP_NS = 6_000_000
_PROBING_NS = 1_000_000  # long enough to tell how many repetitions a lap needs
_ANSWER_SECONDS = 60.0
_REMOVED_VARIABLES = ("PYTHONPATH", "PYTHONSTARTUP")

Counts = dict[str, int]
Ratios = dict[str, list[float]]


class Side:
    """The process that measures one tree. A context manager; raises CannotCompareError where it fails."""

    def __init__(self, label: str, tree: Path) -> None:
        self._label = label
        self._tree = tree
        self._pending = b""

    def __enter__(self) -> Self:
        kept = {name: value for name, value in os.environ.items() if name not in _REMOVED_VARIABLES}
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("side.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=kept | WORKER_VARIABLES | {"PYTHONPATH": str(self._tree)},
            bufsize=0,
        )
        return self

    def __exit__(self, *exception: object) -> None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(_ANSWER_SECONDS if exception == (None, None, None) else 1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        self._errors.close()

    def begin(self, subject: Subject, count: int, laps: int) -> None:
        """Order so many laps of `count` repetitions each; `answer` says when it is warm."""
        self._say(json.dumps({**subject.order, "count": count, "laps": laps}))

    def lap(self) -> Cost:
        """Have one lap run, and wait for what it took."""
        self._say("")
        told = self.answer()
        return Cost(told["cpu_ns"], told["wall_ns"])

    def answer(self) -> dict[str, Any]:
        """The next answer."""
        assert self._process.stdout is not None
        descriptor, give_up = self._process.stdout.fileno(), time.monotonic() + _ANSWER_SECONDS
        while b"\n" not in self._pending:
            if not select.select([descriptor], [], [], max(0.0, give_up - time.monotonic()))[0]:
                raise CannotCompareError(f"{self._label}: no answer within {_ANSWER_SECONDS:.0f} s")
            chunk = os.read(descriptor, 4096)
            if not chunk:
                raise CannotCompareError(f"{self._label}: {self._last_words()}")
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        told: dict[str, Any] = json.loads(line)
        return told

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            raise CannotCompareError(f"{self._label}: {self._last_words()}") from None

    def _last_words(self) -> str:
        self._process.wait(_ANSWER_SECONDS)
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"the measuring process exited with status {self._process.returncode}"


def calibrate(tree: Path, subjects: Sequence[Subject]) -> Counts:
    """How many repetitions make a lap of each subject, as this tree does it; the same then holds for both."""
    counts = {}
    for group in _groups(subjects):
        with Side("base", tree) as side:
            for subject in group:
                count = 1
                while (cost_ns := _shortest_ns(side, subject, count)) < _PROBING_NS:
                    count *= 8
                counts[subject.name] = max(1, math.ceil(LAP_NS * count / cost_ns))
    return counts


def _shortest_ns(side: Side, subject: Subject, count: int) -> float:
    side.begin(subject, count, laps=3)
    side.answer()
    costs = [side.lap() for _ in range(3)]
    side.answer()
    return min(cost.wall_ns for cost in costs)


def measure(trees: Trees, subjects: Sequence[Subject], counts: Mapping[str, int], pairs: int, laps: int) -> Ratios:
    """By subject, for each pair of processes, how many times as long the new tree took: the median over the laps."""
    ratios: Ratios = {subject.name: [] for subject in subjects}
    for index in range(pairs):
        for group in _groups(subjects):
            for name, ratio in _pair(trees, group, counts, laps, base_first=index % 2 == 0).items():
                ratios[name].append(ratio)
    return ratios


def _pair(
    trees: Trees, subjects: Sequence[Subject], counts: Mapping[str, int], laps: int, base_first: bool
) -> dict[str, float]:
    with ExitStack() as stack:
        base, new = Side("base", trees.base), Side("new", trees.new)
        for side in (base, new) if base_first else (new, base):
            stack.enter_context(side)
        return {subject.name: _ratio(base, new, subject, counts[subject.name], laps) for subject in subjects}


def _ratio(base: Side, new: Side, subject: Subject, count: int, laps: int) -> float:
    for side in (base, new):
        side.begin(subject, count, laps)
    for side in (base, new):
        side.answer()
    ratios = []
    for lap in range(laps):
        costs = {side: side.lap() for side in ((base, new) if lap % 2 == 0 else (new, base))}
        before, after = costs[base], costs[new]
        ratios.append(after.cpu_ns / before.cpu_ns if subject.one_process else after.wall_ns / before.wall_ns)
    for side in (base, new):
        side.answer()
    return statistics.median(ratios)


def _groups(subjects: Iterable[Subject]) -> list[list[Subject]]:
    return [list(group) for _, group in groupby(subjects, key=lambda subject: subject.group)]
