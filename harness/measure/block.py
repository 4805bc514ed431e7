"""A block: subjects alive together, in fresh processes, that take many turns in seeded random order.

All take a turn, then all again in another order: a sweep. The turns of a sweep are neighbours, so that whatever slows
the machine for longer slows all of them and cancels in their ratios.

Before that each subject is started by itself and verified. It is warmed up by turns until the last few are as long as
the few before them, up to a limit. Memory decides how many live together. Subjects that are not pinned come in
waves, each of which shares its sweeps with all pinned ones.
"""

import contextlib
import math
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev

import psutil

from harness.measure import processes
from harness.measure.kept import Kept
from harness.measure.measured_processes import Running, Subject, SubjectError
from harness.measure.turn import Turn
from harness.stats import turn_ratios
from workloads import memory

# Ends the name of a second subject of a backend, by which a run measures its own noise.
AGAIN = " again"
# A warm-up is over when the last turns are as long on average as those before them, up to this or to their spread.
_COMPARED_TURNS = 4
_DRIFT = 0.03
# The part of the machine's memory that is left free, and how much more than a living subject the next may need.
_FREE_SHARE = 0.15
_MARGIN = 1.5


@dataclass(frozen=True)
class Effort:
    """How much a block measures: `sweeps`, but none begins after `longest_s` if there are the `fewest`. Another block
    tells more than further turns of long rounds. A wave with a part of the subjects has that part of the time.

    `lead_ns`, `waking_ns`, `resuming_ns`: how long a subject runs in each turn before it is timed, until it runs as it
    does without rests. A single thread only fills its caches. Threads or processes that wait for each other need the
    scheduler's favour again. Processes that spin and were stopped need the longest. `warmup_s`: the least and the most
    time of a warm-up, in turns of `warmup_ns`. `limit_s`: for each thing that a subject is asked (see `Running`).
    """

    sweeps: int = 6  # of 15 % from turn to turn and 3 % from start to start, the starts count
    fewest: int = 3
    longest_s: float = 60.0
    turn_ns: int = 150_000_000
    lead_ns: int = 4_000_000
    waking_ns: int = 100_000_000
    resuming_ns: int = 250_000_000
    warmup_ns: int = 60_000_000
    warmup_s: tuple[float, float] = (0.4, 8.0)
    limit_s: float = 180.0

    def lead_of(self, running: Running) -> int:
        if running.subject.on_one_cpu:
            return self.lead_ns
        return self.resuming_ns if running.spins else self.waking_ns


# The effort of `run`.
EFFORT = Effort()


@dataclass
class Measured:
    """A subject in a block. `turns`: by sweep and the position in it.

    `failure`: why it has none, in one line, or empty. `digest`: of its first rounds, "" where nothing was verified.
    `taken_s`: of the block's time, its end included. The others are columns of a trial (see `TrialRecord`).
    """

    subject: Subject
    failure: str = ""
    turns: dict[tuple[int, int], Turn] = field(default_factory=dict)
    startup_ns: int = 0
    digest: str = ""
    gil_enabled: bool | None = None
    peak_bytes: int = 0
    idle_share: float = 0.0
    parked: int = 0
    lead_ns: int = 0
    warmup_turns: int = 0
    warmup_s: float = 0.0
    steady: bool = False
    taken_s: float = 0.0
    outside_cores: float = 0.0


def run(
    subjects: Sequence[Subject],
    effort: Effort,
    seed: str,
    logs: Callable[[Subject], Path | None] = lambda _: None,
    starts: Callable[[Subject], None] = lambda _: None,
    kept: Kept | None = None,
) -> dict[str, Measured]:
    """Measure the subjects, whose names differ; the outcome of each by its name, in their order.

    `logs`: the file into which a subject prints. By default the output is dropped. `starts` is called before each.
    `kept`: processes of blocks before, and afterwards of this one.
    """
    draw = random.Random(seed)
    found = {subject.name: Measured(subject) for subject in subjects}
    waiting = [subject for subject in subjects if not subject.pinned]
    pinned = [subject for subject in subjects if subject.pinned]
    for group in (waiting, pinned):
        draw.shuffle(group)
    with contextlib.ExitStack() as stack:
        living = _Living(found, effort, logs, starts, kept)
        stack.callback(living.end)
        for subject in pinned:
            living.start(subject)
        sweep = 0
        while True:
            wave: list[Subject] = []
            while waiting and (not wave or living.has_room()):
                wave.append(waiting.pop())
                living.start(wave[-1])
            sweep = living.sweeps(draw, sweep)
            if not waiting:
                living.end(keep=True)
                break
            living.end(wave, keep=True)
    return found


@dataclass
class _Living:
    """The subjects that live, and what becomes of them."""

    found: dict[str, Measured]
    effort: Effort
    logs: Callable[[Subject], Path | None]
    starts: Callable[[Subject], None]
    kept: Kept | None = None
    running: dict[str, Running] = field(default_factory=dict)

    def start(self, subject: Subject) -> None:
        self.starts(subject)
        measured = self.found[subject.name]
        with self._failing(measured):
            running = self.kept.take(subject) if self.kept and subject.kept else None
            if running is None:
                running = Running(subject, self.logs(subject), self.effort.limit_s)
                running.__enter__()
            self.running[subject.name] = running
            vars(measured).update(running.settle())  # startup_ns, digest, gil_enabled
            self._warm_up(running, measured)
            running.park()
            measured.parked, measured.lead_ns = running.parked, self.effort.lead_of(running)
            measured.peak_bytes = running.held_bytes()
            running.forget_idling()

    def _warm_up(self, running: Running, measured: Measured) -> None:
        effort, began = self.effort, time.monotonic()
        least_s, most_s = effort.warmup_s
        times: list[float] = []
        while not measured.steady and measured.warmup_s < most_s:
            times.append(running.turn(effort.warmup_ns, 0).round_ns)
            measured.warmup_s = time.monotonic() - began
            measured.steady = measured.warmup_s >= least_s and steady(times)
        measured.warmup_turns = len(times)

    def sweeps(self, draw: random.Random, first: int) -> int:
        """Have all that live take their turns, sweep by sweep, numbered from `first`; the number after the last."""
        effort, began, outside = self.effort, time.monotonic(), _Outside(self.running)
        sound = sum(not one.failure for one in self.found.values()) or 1  # whether they live or not
        cpus = sorted(os.sched_getaffinity(0))
        sweep, longest_s = first, effort.longest_s * len(self.running) / sound
        while sweep - first < effort.sweeps and self.running:
            if sweep - first >= effort.fewest and time.monotonic() - began > longest_s:
                break
            order = sorted(self.running)
            draw.shuffle(order)
            for running in self.running.values():
                if running.subject.on_one_cpu:
                    running.confine(cpus[sweep % len(cpus)])
            for position, name in enumerate(order):
                measured = self.found[name]
                with self._failing(measured):
                    measured.turns[sweep, position] = self.running[name].turn(effort.turn_ns, measured.lead_ns)
            sweep += 1
            if sweep - first == effort.sweeps // 2:
                self._weigh()
        for name in self.running:
            self.found[name].outside_cores = max(self.found[name].outside_cores, outside.cores(self.running))
        self._weigh()
        return sweep

    def _weigh(self) -> None:
        for name, running in self.running.items():
            running.look()
            self.found[name].peak_bytes = max(self.found[name].peak_bytes, running.held_bytes())
            running.rest()

    def has_room(self) -> bool:
        """Whether there is memory for one more that is as large as the largest that is not pinned."""
        held = [self.found[name].peak_bytes for name, one in self.running.items() if not one.subject.pinned]
        return memory.free() - _MARGIN * max(held, default=0) > _FREE_SHARE * memory.total()

    def end(self, subjects: Sequence[Subject] | None = None, keep: bool = False) -> None:
        """End these, or all. `keep`: but for the processes of those that are kept."""
        for name in [one.name for one in subjects] if subjects is not None else list(self.running):
            if (running := self.running.pop(name, None)) is not None:
                self.found[name].idle_share = running.idle_share
                with _timed(self.found[name]):
                    if not (keep and self.kept and running.subject.kept and self.kept.put(running)):
                        running.__exit__(None, None, None)

    @contextlib.contextmanager
    def _failing(self, measured: Measured) -> Iterator[None]:
        """A subject that fails leaves the block, and the others go on."""
        try:
            with _timed(measured):
                yield
        except SubjectError as error:
            measured.failure = str(error)
            self.end([measured.subject])


@contextlib.contextmanager
def _timed(measured: Measured) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        measured.taken_s += time.monotonic() - began


class _Outside:
    """How many cores processes outside the block keep busy."""

    def __init__(self, running: Mapping[str, Running]) -> None:
        self._own = {name: one.cpu_ns() for name, one in running.items()}
        self._began = self._reading()

    def cores(self, running: Mapping[str, Running]) -> float:
        """Since this object was made. Subjects that ended since then count as outside."""
        used_s = sum(processes.used_ns(self._own[name], one.cpu_ns()) for name, one in running.items()) / 1e9
        (busy_s, wall_s), (busy_before_s, wall_before_s) = self._reading(), self._began
        return max(0.0, (busy_s - busy_before_s - used_s) / (wall_s - wall_before_s))

    @staticmethod
    def _reading() -> tuple[float, float]:
        usable, each = os.sched_getaffinity(0), psutil.cpu_times(percpu=True)
        counted = [one for cpu, one in enumerate(each) if cpu in usable] or each  # some containers number anew
        times = [item for one in counted for item in one._asdict().items()]
        idle = ("idle", "iowait", "guest", "guest_nice")  # guest time is part of user time as well
        own = time.process_time()
        return sum(seconds for name, seconds in times if name not in idle) - own, time.monotonic()


def log_ratios(above: Measured, below: Measured, less: tuple[float, float] = (0.0, 0.0)) -> list[float]:
    """The log ratios of two subjects' times of a round, of neighbouring turns: CPU times if both are `on_one_cpu`.

    Two that took no turns in one sweep have one ratio, of their means. `less`: ns of each one's round that don't count.
    Nothing, where a turn has no time that counts.
    """
    by_cpu = above.subject.on_one_cpu and below.subject.on_one_cpu
    over, under = (
        {sweep: (turn.cpu_ns if by_cpu else turn.wall_ns) / turn.rounds - ns for (sweep, _), turn in one.turns.items()}
        for one, ns in zip((above, below), less, strict=True)
    )
    if not (over and under) or min(*over.values(), *under.values()) <= 0:
        return []
    apart = fmean(map(math.log, over.values())) - fmean(map(math.log, under.values()))
    return turn_ratios.log_ratios(over, under) or [apart]


def steady(times: Sequence[float]) -> bool:
    """Whether the last few times are as long as the few before them."""
    if len(times) < 2 * _COMPARED_TURNS:
        return False
    logs = [math.log(time) for time in times[-2 * _COMPARED_TURNS :]]
    before, after = logs[:_COMPARED_TURNS], logs[_COMPARED_TURNS:]
    error = math.sqrt((stdev(before) ** 2 + stdev(after) ** 2) / _COMPARED_TURNS)
    return abs(fmean(after) - fmean(before)) <= max(_DRIFT, 2 * error)
