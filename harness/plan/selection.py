"""From the command line's choices to a grid: presets, workloads, backends, `--set`. Runs nothing.

A value of `--set` may suit one workload and not another. It is used wherever it suits, and what had to be
left out is noted; a value that suits nowhere is refused. Points of two sweeps that differ only in how long they run
are one.
"""

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import UsageError
from harness.plan.grid import Grid, Point, backends_of, canonical
from harness.plan.presets import PRESETS, Preset, Sweep
from workloads.catalogue import BACKENDS, WORKLOADS, make_task
from workloads.parameter import ParameterError, parameters_of, unknown


@dataclass(frozen=True)
class Setting:
    """One `--set`: the values of a parameter, as text, of all workloads that have it or of the one named."""

    name: str
    values: tuple[str, ...]
    workload: str | None = None

    def __str__(self) -> str:
        prefix = f"{self.workload}." if self.workload else ""
        return f"{prefix}{self.name}={','.join(self.values)}"

    def concerns(self, workload: str) -> bool:
        """Whether it is meant for this workload, if that has the parameter."""
        return self.workload in (None, workload)


# How long a point runs: two points that differ in nothing else are one, unless a setting names it.
_LENGTH = ("rounds", "warmup_rounds")

# A setting with one of its values.
Choice = tuple[Setting, str]


@dataclass(frozen=True)
class Selection:
    """A grid, and in one line each what was left out of it."""

    grid: Grid
    notes: tuple[str, ...]


@dataclass
class _Search:
    """What has been found while the sweeps are gone through. `points`: by workload, and the parameters that tell them
    apart.
    """

    points: dict[tuple[str, str], Point] = field(default_factory=dict)
    accepted: set[Choice] = field(default_factory=set)
    refusals: list[tuple[frozenset[Choice], str]] = field(default_factory=list)


def select(
    preset_name: str,
    *,
    workloads: Sequence[str] = (),
    backends: Sequence[str] = (),
    settings: Sequence[Setting] = (),
    trials: int | None = None,
    seed: int | None = None,
    time_limit_s: float | None = None,
    budget_s: float | None = None,
) -> Selection:
    """What the command line asks for; an empty sequence and None stand for the preset's own choice.

    `seed` is the seed of the order, and of every workload unless a setting says otherwise. A number of trials stands
    for itself, without the preset's budget. Raises UsageError.
    """
    check_known("preset", [preset_name], PRESETS)
    check_known("workload", workloads, WORKLOADS)
    check_known("backend", backends, BACKENDS)
    preset = PRESETS[preset_name]
    sweeps = _sweeps(preset, workloads)
    _check_settings(settings, list(dict.fromkeys(sweep.workload for sweep in sweeps)))
    search = _Search()
    for sweep in sweeps:
        seeds = {} if seed is None else {"seed": (seed,)}
        _explore(search, sweep, seeds, settings, trials or preset.trials)
    _check_accepted(search, settings)
    chosen = tuple(dict.fromkeys(backends or preset.backends))
    for workload, _ in search.points:
        if not backends_of(workload, chosen):
            raise UsageError(f"workload {workload} has none of the backends {', '.join(chosen)}")
    budget_s = budget_s or (preset.budget_s if trials is None else None)
    limit_s = time_limit_s or preset.time_limit_s
    try:
        grid = Grid(tuple(search.points.values()), chosen, seed or 0, limit_s, budget_s=budget_s)
    except ParameterError as error:
        raise UsageError(str(error)) from None
    return Selection(grid, tuple(dict.fromkeys(f"left out: {reason}" for _, reason in search.refusals)))


def check_known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise UsageError, with the name that was meant, where one of these is none of those."""
    for name in names:
        if name not in known:
            raise UsageError(unknown(what, name, known))


def _sweeps(preset: Preset, workloads: Sequence[str]) -> list[Sweep]:
    if not workloads:
        return list(preset.sweeps)
    chosen = [sweep for sweep in preset.sweeps if sweep.workload in workloads]
    swept = {sweep.workload for sweep in chosen}
    return chosen + [Sweep(name) for name in dict.fromkeys(workloads) if name not in swept]


def _check_settings(settings: Sequence[Setting], workloads: Sequence[str]) -> None:
    """Refuse what none of the workloads has, and what is said twice."""
    said: set[tuple[str | None, str]] = set()
    for setting in settings:
        if setting.workload is not None and setting.workload not in workloads:
            raise UsageError(f"--set {setting}: {_not_chosen(setting.workload, workloads)}")
        if (setting.workload, setting.name) in said:
            raise UsageError(f"--set {setting}: {setting.name} is set twice; write all values into one --set")
        said.add((setting.workload, setting.name))
        concerned = [name for name in workloads if setting.concerns(name)]
        known = {name: None for workload in concerned for name in _declared(workload)}
        if setting.name not in known:
            raise UsageError(f"--set {setting}: {unknown('parameter', setting.name, known, limit=40)}")


def _not_chosen(workload: str, chosen: Sequence[str]) -> str:
    if workload in WORKLOADS:
        return f"{workload} is not among the workloads chosen: {', '.join(chosen)}"
    return unknown("workload", workload, chosen)


def _declared(workload: str) -> Mapping[str, Any]:
    return parameters_of(WORKLOADS[workload].task_class())


def _explore(search: _Search, sweep: Sweep, seeds: Mapping[str, Any], settings: Sequence[Setting], trials: int) -> None:
    """Add a sweep's points to the search, or the reasons why they can't be."""
    declared = _declared(sweep.workload)
    values: dict[str, Sequence[Any]] = {**seeds, **sweep.values}
    choices: dict[tuple[str, Any], set[Choice]] = {}
    for setting in settings:
        if setting.name in declared and setting.concerns(sweep.workload):
            parsed = list(_parse(search, sweep.workload, declared[setting.name], setting))
            values[setting.name] = list(dict.fromkeys(value for value, _ in parsed))
            for value, text in parsed:
                choices.setdefault((setting.name, value), set()).add((setting, text))
    for combination in itertools.product(*values.values()):
        named = dict(zip(values, combination, strict=True))
        involved = frozenset[Choice]().union(*(choices.get(item, ()) for item in named.items()))
        try:
            task = make_task(sweep.workload, named)
        except ParameterError as error:
            search.refusals.append((involved, f"{sweep.workload}: {error}"))
            continue
        search.accepted |= involved
        _add(search, Point(sweep.workload, canonical(task), trials), settings)


def _add(search: _Search, point: Point, settings: Sequence[Setting]) -> None:
    """Add a point to the search; of points that differ only in how long they run the shortest."""
    named = {setting.name for setting in settings if setting.concerns(point.workload)}
    free = [name for name in _LENGTH if name not in named]
    kept = json.dumps({name: value for name, value in point.values.items() if name not in free})
    present = search.points.setdefault((point.workload, kept), point)
    if _length(point) < _length(present):
        search.points[point.workload, kept] = point


def _length(point: Point) -> tuple[int, ...]:
    return tuple(point.values[name] for name in _LENGTH)


def _parse(search: _Search, workload: str, declared: Any, setting: Setting) -> Iterator[tuple[Any, str]]:
    for text in setting.values:
        try:
            yield declared.parse(text), text
        except ParameterError as error:
            search.refusals.append((frozenset([(setting, text)]), f"{workload}: {error}"))


def _check_accepted(search: _Search, settings: Sequence[Setting]) -> None:
    """Refuse a value that suits nowhere, and a preset that doesn't suit its workload."""
    for setting in settings:
        for text in setting.values:
            if (setting, text) not in search.accepted:
                reasons = (reason for involved, reason in search.refusals if (setting, text) in involved)
                raise UsageError(f"--set {setting}: {next(reasons)}")
    for involved, reason in search.refusals:
        if not involved:
            raise UsageError(reason)
