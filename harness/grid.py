"""Which trials a run consists of, and in which order. Runs nothing.

The order: all points once, then all points again, so that an interrupted run has seen every point. A block is
one point's backends of one trial; within it the backends run one after the other in a seeded random order, so
that a machine whose speed drifts slows all of them, and the ratio of two backends is taken between neighbours
in time.
"""

import dataclasses
import importlib.util
import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness import metrics
from harness.errors import UsageError
from harness.machine import cores_allowed
from harness.presets import PRESETS, Preset, Sweep
from harness.record import TrialKey
from workloads.catalogue import BACKENDS, WORKLOADS, Backend, make_task
from workloads.parameter import ParameterError, parameters_of, unknown

# Rounds of the run that proves a backend right before its first trial. Enough to pass what happens only now
# and then (an episode's end, a copy of the target network), few enough to cost less than the trial.
_VERIFY_ROUNDS = {"gym_sampling": 200, "multi_agent": 120, "atari_sampling": 50, "broadcast_gather": 3}
_VERIFY_ROUNDS_ELSE = 12


@dataclass(frozen=True)
class Setting:
    """One `--set`: the values of a parameter, as text, of all workloads that have it or of the one named."""

    name: str
    values: tuple[str, ...]
    workload: str | None = None

    def __str__(self) -> str:
        prefix = f"{self.workload}." if self.workload else ""
        return f"{prefix}{self.name}={','.join(self.values)}"


@dataclass(frozen=True)
class Point:
    """A workload with all its parameters, and the trials it gets on each backend."""

    workload: str
    parameters: str
    trials: int

    @property
    def values(self) -> dict[str, Any]:
        """The parameters by name."""
        values: dict[str, Any] = json.loads(self.parameters)
        return values

    @property
    def task(self) -> Any:
        """The task of this point."""
        return make_task(self.workload, self.values)

    @property
    def scenario(self) -> str:
        """The environment or variant."""
        return str(self.task.scenario)

    @property
    def units(self) -> dict[str, str]:
        """The metrics that a trial of this point yields, and their units."""
        return metrics.units(self.task)

    @property
    def verify_rounds(self) -> int:
        """Rounds of the run that proves a backend right, the same for every backend."""
        rounds: int = self.values["rounds"]
        return min(rounds, _VERIFY_ROUNDS.get(self.workload, _VERIFY_ROUNDS_ELSE))


@dataclass(frozen=True)
class Trial:
    """One repetition of one point on one backend: what a fresh process runs."""

    point: Point
    backend: str
    index: int

    @property
    def key(self) -> TrialKey:
        """The trial's identity in the file of rows."""
        return self.point.workload, self.point.parameters, self.backend, self.index


Block = tuple[Trial, ...]


@dataclass(frozen=True)
class Grid:
    """All trials of a run. `time_limit_s`: for one trial; not a part of what makes two grids different."""

    points: tuple[Point, ...]
    backends: tuple[str, ...]
    seed: int
    time_limit_s: float

    def blocks(self) -> Iterator[Block]:
        """The blocks, in the order in which they run."""
        for index in range(max(point.trials for point in self.points)):
            for point in self.points:
                if index < point.trials:
                    yield self._block(point, index)

    def trials(self) -> Iterator[Trial]:
        """The trials, in the order in which they run."""
        return itertools.chain.from_iterable(self.blocks())

    def _block(self, point: Point, index: int) -> Block:
        names = backends_of(point.workload, self.backends)
        # Seeded by what the block is, not by what ran before it: the order survives --resume.
        random.Random(f"{self.seed} {point.workload} {point.parameters} {index}").shuffle(names)
        return tuple(Trial(point, name, index) for name in names)

    def describe(self) -> dict[str, Any]:
        """The grid as JSON can hold it; equal for equal grids."""
        return {
            "points": [
                {"workload": point.workload, "trials": point.trials, "parameters": point.values}
                for point in self.points
            ],
            "backends": list(self.backends),
            "seed": self.seed,
            "time_limit_s": self.time_limit_s,
        }

    @classmethod
    def restore(cls, description: Mapping[str, Any]) -> "Grid":
        """The grid of a description; raises ParameterError or UsageError where it can't run any more."""
        points = tuple(
            Point(
                entry["workload"],
                _canonical(make_task(entry["workload"], entry["parameters"])),
                entry["trials"],
            )
            for entry in description["points"]
        )
        names, seed = tuple(description["backends"]), description["seed"]
        _check_known("backend", names, BACKENDS)
        return cls(points, names, seed, description["time_limit_s"])


def differences(before: Grid, now: Grid) -> str:
    """In which respect two grids differ, in a few words; empty where they don't."""
    found = []
    if before.backends != now.backends:
        found.append(f"backends {', '.join(before.backends)} there, {', '.join(now.backends)} here")
    there, here = set(before.points), set(now.points)
    if there != here:
        only = f"{len(there - here)} points there are none of this grid's, {len(here - there)} here are new"
        example = next(iter(sorted(here - there or there - here, key=lambda point: (point.workload, point.parameters))))
        found.append(f"{only}, such as {example.workload} with {example.trials} trials of {example.parameters}")
    if before.seed != now.seed:
        found.append(f"seed {before.seed} there, {now.seed} here")
    return "; ".join(found)


def build(
    preset_name: str,
    *,
    workloads: Sequence[str] = (),
    backends: Sequence[str] = (),
    settings: Sequence[Setting] = (),
    trials: int | None = None,
    seed: int | None = None,
    time_limit_s: float | None = None,
) -> Grid:
    """The grid that the command line asks for; an empty sequence and None stand for the preset's own choice.

    `seed` is the seed of the order, and of every workload unless a setting says otherwise. Raises UsageError.
    """
    if preset_name not in PRESETS:
        raise UsageError(unknown("preset", preset_name, PRESETS))
    preset = PRESETS[preset_name]
    _check_known("workload", workloads, WORKLOADS)
    _check_known("backend", backends, BACKENDS)
    sweeps = _sweeps(preset, workloads)
    if seed is not None:
        sweeps = [replace(sweep, values={"seed": (seed,), **sweep.values}) for sweep in sweeps]
    for setting in settings:
        sweeps = _apply(setting, sweeps)
    found: dict[tuple[str, str], Point] = {}
    for sweep in sweeps:
        for point in _points(sweep, trials or sweep.trials or preset.trials):
            found.setdefault((point.workload, point.parameters), point)
    chosen = tuple(dict.fromkeys(backends or preset.backends or BACKENDS))
    for workload in dict.fromkeys(point.workload for point in found.values()):
        if not backends_of(workload, chosen):
            raise UsageError(f"workload {workload} has none of the backends {', '.join(chosen)}")
    return Grid(tuple(found.values()), chosen, seed or 0, time_limit_s or preset.time_limit_s)


def backends_of(workload: str, names: Sequence[str]) -> list[str]:
    """Those of the backends that the workload has a module for."""
    package = WORKLOADS[workload].module
    return [name for name in names if importlib.util.find_spec(f"{package}.{BACKENDS[name].module}")]


def workers_of(backend: Backend) -> int | None:
    """How many workers a backend's pool has; None where that isn't set in advance (Ray: its actors)."""
    if "workers" in backend.options:
        return int(backend.options["workers"])
    if backend.options.get("executor", "inline") != "inline":
        return cores_allowed()
    return None if backend.module == "on_ray" else 1


def _check_known(what: str, names: Sequence[str], known: Mapping[str, object]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(unknown(what, name, known))


def _sweeps(preset: Preset, workloads: Sequence[str]) -> list[Sweep]:
    if not workloads:
        return list(preset.sweeps)
    chosen = [sweep for sweep in preset.sweeps if sweep.workload in workloads]
    swept = {sweep.workload for sweep in chosen}
    return chosen + [Sweep(name) for name in dict.fromkeys(workloads) if name not in swept]


def _apply(setting: Setting, sweeps: Sequence[Sweep]) -> list[Sweep]:
    """The sweeps with the parameter's values replaced wherever there is such a parameter."""
    names: dict[str, None] = {}
    changed, used = [], False
    for sweep in sweeps:
        if setting.workload not in (None, sweep.workload):
            changed.append(sweep)
            continue
        declared = parameters_of(WORKLOADS[sweep.workload].task_class())
        names.update(dict.fromkeys(declared))
        if setting.name not in declared:
            changed.append(sweep)
            continue
        used = True
        try:
            values = tuple(declared[setting.name].parse(text) for text in setting.values)
        except ParameterError as error:
            raise UsageError(f"--set {setting}: {error}") from None
        changed.append(replace(sweep, values={**sweep.values, setting.name: values}))
    if setting.workload is not None and not names:
        raise UsageError(
            f"--set {setting}: "
            + unknown("workload", setting.workload, dict.fromkeys(sweep.workload for sweep in sweeps))
        )
    if not used:
        raise UsageError(f"--set {setting}: {unknown('parameter', setting.name, names, limit=40)}")
    return changed


def _points(sweep: Sweep, trials: int) -> Iterator[Point]:
    for combination in itertools.product(*sweep.values.values()):
        values = dict(zip(sweep.values, combination, strict=True))
        try:
            task = make_task(sweep.workload, values)
        except ParameterError as error:
            raise UsageError(f"{sweep.workload}: {error}") from None
        yield Point(sweep.workload, _canonical(task), trials)


def _canonical(task: Any) -> str:
    return json.dumps(dataclasses.asdict(task), sort_keys=True, separators=(",", ":"))
