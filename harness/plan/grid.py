"""The points and trials of a run, and their order. Runs nothing.

All points run once, then all points again, so that an interrupted run has seen every point. A block is one point's
backends of one trial, which live together and take turns.
"""

import dataclasses
import itertools
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import msgspec

from harness.errors import UsageError
from harness.plan import metrics
from harness.plan.point_name import named_task, point_name
from workloads import outside
from workloads.catalogue import BACKENDS, Backend, make_task, runs, workload_of
from workloads.parameter import ParameterError, unknown

# A parameter's value in JSON.
Scalar = int | float | str | bool

# The most bytes of arrays in the rounds that prove a backend right, as hashing takes a second for each GiB. One round
# runs in any case.
_VERIFY_BYTES = 4 * 2**30
# The time that the plain loop may take for them in a made-up environment, which has the time of its step in its name.
_VERIFY_NS = 20_000_000_000
# The version of a run's files. Files of another version are refused: their values mean something else.
SCHEMA = 5
MOST_TRIALS = 1_000  # of a point, in any sensible run
LONGEST_S = 1e8  # as a time limit; the system can't wait for much longer


class TrialKey(NamedTuple):
    """A trial of a run, in files and messages. `point`: the name."""

    point: str
    backend: str
    trial: int

    def __str__(self) -> str:
        return f"{self.point} {self.backend} trial {self.trial}"


@dataclass(frozen=True)
class Point:
    """A workload with all its parameters, and the trials it gets on each backend."""

    workload: str
    parameters: str
    trials: int

    @classmethod
    def named(cls, name: str, trials: int) -> "Point":
        """The point of a name; raises UsageError."""
        workload, task = named_task(name)
        return cls(workload, canonical(task), trials)

    @cached_property
    def name(self) -> str:
        """See `point_name`."""
        return point_name(self.workload, self.parameters)

    @property
    def values(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(self.parameters)
        return values

    @cached_property
    def task(self) -> Any:
        return make_task(self.workload, self.values)

    @property
    def scenario(self) -> str:
        """The environment or variant."""
        return str(self.task.scenario)

    @property
    def columns(self) -> dict[str, Any]:
        values = self.values
        return {
            "workload": self.workload,
            "scenario": self.scenario,
            "actors": values.get("actors", values.get("agents")),
            **{name: values.get(name) for name in ("object_bytes", "steps_per_message", "minibatch")},
            "parameters": self.parameters,
        }

    @property
    def units(self) -> dict[str, str]:
        """The metrics that a trial of this point yields, and their units."""
        return metrics.units(self.task)

    @property
    def verify_rounds(self) -> int:
        """Rounds of the run that proves a backend right, the same for every backend."""
        rounds: int = min(self.values["rounds"], workload_of(self.workload).verify_rounds)
        in_time = _VERIFY_NS // max(1, made_up_ns(self.values))
        return max(1, min(rounds, in_time, _VERIFY_BYTES // max(1, bytes_of_round(self.values))))


@dataclass(frozen=True)
class Trial:
    """One repetition of one point on one backend, which a subject of a block runs in fresh processes."""

    point: Point
    backend: str
    index: int

    @property
    def key(self) -> TrialKey:
        return TrialKey(self.point.name, self.backend, self.index)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that name it in files."""
        point = {"workload": self.point.workload, "parameters": self.point.parameters}
        return {**point, "backend": self.backend, "trial": self.index}


Block = tuple[Trial, ...]


class PointDescription(TypedDict):
    """A point as JSON can hold it."""

    workload: str
    trials: Annotated[int, msgspec.Meta(ge=1, le=MOST_TRIALS)]
    parameters: dict[str, Scalar]


class Description(TypedDict):
    """A run's grid as JSON can hold it."""

    run_id: str
    points: Annotated[list[PointDescription], msgspec.Meta(min_length=1)]
    backends: Annotated[list[str], msgspec.Meta(min_length=1)]
    seed: int
    time_limit_s: Annotated[float, msgspec.Meta(gt=0, le=LONGEST_S)]
    schema: int
    budget_s: NotRequired[float | None]
    predicts: NotRequired[bool]
    outside: NotRequired[dict[str, str]]


@dataclass(frozen=True)
class Grid:
    """All trials of a run. `time_limit_s`: for each thing that a trial is asked. `budget_s`: for all, which may then be
    fewer than these. `predicts`: see `Preset`.
    """

    points: tuple[Point, ...]
    backends: tuple[str, ...]
    seed: int
    time_limit_s: float
    budget_s: float | None = None
    predicts: bool = False

    def points_of(self, names: Sequence[str]) -> list[Point]:
        """The points, or those of these names; raises UsageError for one that is not there."""
        known = {point.name: point for point in self.points}
        for name in names:
            if name not in known:
                raise UsageError(unknown("--point", name, known))
        return [known[name] for name in dict.fromkeys(names)] or list(self.points)

    def blocks(self) -> Iterator[Block]:
        """The blocks, in the order in which they run."""
        for index in range(max((point.trials for point in self.points), default=0)):
            for point in self.points:
                if index < point.trials:
                    yield tuple(Trial(point, name, index) for name in backends_of(point.workload, self.backends))

    def trials(self) -> Iterator[Trial]:
        """The trials, in the order in which they run."""
        return itertools.chain.from_iterable(self.blocks())

    def _kinds(self, point: Point) -> dict[str, str]:
        """A backend of each kind, by it. Stored runs have backends that are gone."""
        names = backends_of(point.workload, self.backends)
        return {kind_of(BACKENDS[name]): name for name in names if name in BACKENDS}

    @cached_property
    def _widest(self) -> Point:
        return max(self.points, key=lambda point: len(self._kinds(point)))

    def repeated(self, point: Point) -> list[str]:
        """The backends that the blocks of a point have twice, by which a run measures its own noise.

        One of each kind, at the first of the points that most kinds run.
        """
        return list(self._kinds(point).values()) if point == self._widest else []

    def with_trials(self, trials: int) -> "Grid":
        points = tuple(dataclasses.replace(point, trials=trials) for point in self.points)
        return dataclasses.replace(self, points=points)

    def describe(self) -> dict[str, Any]:
        """The grid as JSON can hold it; equal for equal grids."""
        points = [{"workload": one.workload, "trials": one.trials, "parameters": one.values} for one in self.points]
        described = {name: getattr(self, name) for name in ("seed", "time_limit_s", "budget_s", "predicts")}
        names = {*self.backends, *(point.workload for point in self.points)}
        if places := {name: place for name, place in outside.PLACES.items() if name in names}:
            described["outside"] = places
        return {"points": points, "backends": list(self.backends), "schema": SCHEMA, **described}

    @classmethod
    def restore(cls, description: Mapping[str, Any]) -> "Grid":
        """The grid of a description. Raises ParameterError if its points can't be made any more."""
        if description["schema"] != SCHEMA:
            raise ParameterError(f"schema {description['schema']}, where this version reads {SCHEMA}")
        names = tuple(description["backends"])
        for name, place in description.get("outside", {}).items():
            outside.PLACES.setdefault(name, place)  # the command line knows better
        points = tuple(
            # Parameters that its version did not have are left out, as in its rows.
            Point(
                one["workload"],
                canonical(make_task(one["workload"], one["parameters"]), one["parameters"]),
                one["trials"],
            )
            for one in description["points"]
        )
        limits = description["time_limit_s"], description.get("budget_s")
        return cls(points, names, description["seed"], *limits, predicts=description.get("predicts", False))


def differences(before: Grid, now: Grid) -> str:
    """The respects in which two grids differ, in a few words; empty where they don't. The number of trials that a
    budget allowed is no difference.
    """
    found = []
    if before.backends != now.backends:
        found.append(f"backends {', '.join(before.backends)} there, {', '.join(now.backends)} here")
    budgeted = before.budget_s is not None and now.budget_s is not None
    there, here = (set((grid.with_trials(1) if budgeted else grid).points) for grid in (before, now))
    if there != here:
        example = min(here - there or there - here, key=lambda point: point.name)
        only = f"{len(there - here)} points there are none of this grid's, {len(here - there)} here are new"
        found.append(f"{only}, such as {example.trials} trials of {example.name}")
    if before.seed != now.seed:
        found.append(f"seed {before.seed} there, {now.seed} here")
    return "; ".join(found)


def backends_of(workload: str, names: Sequence[str]) -> list[str]:
    """Those of the backends that run the workload."""
    return [name for name in names if runs(workload, name)]


def kind_of(backend: Backend) -> str:
    """The kind of a backend. Backends of one executor or one of Ray's interfaces wait alike; peers are one kind."""
    if backend.role != "main":
        return backend.role
    return backend.kind or str(backend.options.get("executor", backend.module))


def bytes_of_round(parameters: Mapping[str, Any]) -> int:
    """The size of the arrays that a round sends one way. It is 0 if the workload lacks these parameters."""
    size: int = parameters.get("actors", 0) * parameters.get("object_bytes", 0)
    return size


def made_up_ns(parameters: Mapping[str, Any]) -> int:
    """The processor time of a round of made-up environments, all steps together. It is 0 of other environments."""
    kind, _, name = str(parameters.get("env", "")).partition(":")
    if kind != "busy":
        return 0
    from workloads import made_up  # imports gymnasium

    steps = parameters.get("steps_per_message", 1) * parameters.get("steps", 1)
    step_ns: int = made_up.parsed(name)[-1] * steps * parameters.get("actors", 1)
    return step_ns


def runs_alone(parameters: Mapping[str, Any], backend: Backend) -> bool:
    """Whether a backend computes in one thread that never waits, so that its CPU time is its time."""
    in_one_thread = backend.module == "on_serial" or backend.options.get("executor") == "inline"
    return in_one_thread and not parameters.get("work_seconds")


def canonical(task: Any, names: Container[str] | None = None) -> str:
    """All parameters of a task, or those of these names, as JSON, the same text for equal tasks."""
    values = {name: value for name, value in dataclasses.asdict(task).items() if names is None or name in names}
    return json.dumps(values, sort_keys=True, separators=(",", ":"))
