"""From the command line's choices to a grid: presets, workloads, backends, `--set`, `--point`. Runs nothing.

A value of `--set` may suit one workload and not another. It is used wherever it suits, and a note names what was left
out. A value that suits nowhere is refused. Points of two sweeps that differ only in how long they run are one.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError
from harness.plan.grid import Grid, Point, backends_of, canonical
from harness.plan.presets import PRESETS, ByCores, Sweep, sweeps_of
from workloads.catalogue import BESIDE_A_GIL, WORKLOADS, backend_of, make_task, runs, workload_of
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
    """A grid, and in one line each what was left out of it or is smaller than the preset says."""

    grid: Grid
    notes: tuple[str, ...]


def select(
    preset_name: str,
    *,
    points: Sequence[str] = (),
    workloads: Sequence[str] = (),
    backends: Sequence[str] = (),
    settings: Sequence[Setting] = (),
    trials: int | None = None,
    seed: int | None = None,
    time_limit_s: float | None = None,
    budget_s: float | None = None,
    free_threaded: bool = False,
) -> Selection:
    """The grid that the command line asks for; an empty sequence and None stand for the preset's own choice.

    `points`: their names, instead of workloads and settings. `seed` is the seed of the order, and of every workload
    unless a setting says otherwise. A point that is named has the seed of its name. A number of trials overrides the
    preset's budget. `free_threaded`: also take the backends that need no GIL, unless backends are named. The preset's
    budget grows with the number of backends. Things from outside are in `outside.PLACES`. Raises UsageError.
    """
    preset = PRESETS[preset_name]
    if points and (workloads or settings):
        raise UsageError("--point names a workload and all its parameters; leave out --workload and --set")
    try:
        sweeps = _sweeps(preset_name, workloads) if not points else []
        for name in backends:
            backend_of(name)
    except ParameterError as error:
        raise UsageError(str(error)) from None
    _check_settings(settings, list(dict.fromkeys(sweep.workload for sweep in sweeps)))
    search = _Search(settings, {} if seed is None else {"seed": (seed,)}, trials or preset.trials)
    for sweep in sweeps:
        search.explore(sweep)
    search.check_accepted()
    found = dict.fromkeys(Point.named(name, trials or preset.trials) for name in points) or search.points.values()
    added = BESIDE_A_GIL if free_threaded and not backends else ()
    chosen = tuple(dict.fromkeys((*(backends or preset.backends), *added)))
    for point in found:
        if not backends_of(point.workload, chosen):
            raise UsageError(f"workload {point.workload} has none of the backends {', '.join(chosen)}")
    if budget_s is None and trials is None and preset.budget_s is not None:
        budget_s = preset.budget_s * (len(chosen) / len(preset.backends) if added else 1)
    limit_s = time_limit_s or preset.time_limit_s
    grid = Grid(tuple(found), chosen, seed or 0, limit_s, budget_s, preset.predicts)
    left_out = [reason for _, reason in search.refusals]
    lacking = (
        (name, dict.fromkeys(one.workload for one in found if not runs(one.workload, name))) for name in backends
    )
    left_out += [f"{name}: no program of {', '.join(without)} is for it" for name, without in lacking if without]
    return Selection(grid, (*search.notes, *dict.fromkeys(f"left out: {reason}" for reason in left_out)))


def _sweeps(preset: str, workloads: Sequence[str]) -> list[Sweep]:
    """The sweeps of the preset, or those of these workloads: all at default where the preset has none of one."""
    if not workloads:
        return list(PRESETS[preset].sweeps)
    named = dict.fromkeys(workloads)
    ordered = [*filter(named.__contains__, WORKLOADS), *(name for name in named if name not in WORKLOADS)]
    return [sweep for name in ordered for sweep in sweeps_of(preset, name) or [Sweep(name)]]


def _check_settings(settings: Sequence[Setting], workloads: Sequence[str]) -> None:
    """Refuse a parameter that none of the workloads has, and one that is set twice."""
    said: set[tuple[str | None, str]] = set()
    for setting in settings:
        if setting.workload not in (None, *workloads):
            reason = unknown("workload", setting.workload, workloads)
            if setting.workload in WORKLOADS:
                reason = f"{setting.workload} is not among the workloads chosen: {', '.join(workloads)}"
            raise UsageError(f"--set {setting}: {reason}")
        if (setting.workload, setting.name) in said:
            raise UsageError(f"--set {setting}: {setting.name} is set twice; write all values into one --set")
        said.add((setting.workload, setting.name))
        names = {name: None for workload in workloads if setting.concerns(workload) for name in _declared(workload)}
        if setting.name not in names:
            raise UsageError(f"--set {setting}: {unknown('parameter', setting.name, names, limit=40)}")


def _declared(workload: str) -> Mapping[str, Any]:
    return parameters_of(workload_of(workload).task_class())


class _Search:
    """The points found while the sweeps are gone through, and why others were refused.

    `points`: by workload, and the parameters that tell them apart. `notes`: what the machine has no room for.
    """

    def __init__(self, settings: Sequence[Setting], seeds: Mapping[str, Sequence[Any]], trials: int) -> None:
        self.points: dict[tuple[str, str], Point] = {}
        self.refusals: list[tuple[frozenset[Choice], str]] = []
        self.notes: dict[str, None] = {}
        self._accepted: set[Choice] = set()
        self._settings, self._seeds, self._trials = settings, seeds, trials

    def explore(self, sweep: Sweep) -> None:
        """Add a sweep's points, or the reasons why they can't be."""
        values = {name: list(map(self._here, found)) for name, found in {**self._seeds, **sweep.values}.items()}
        choices: dict[tuple[str, Any], set[Choice]] = {}
        for setting in self._settings:
            if setting.name in _declared(sweep.workload) and setting.concerns(sweep.workload):
                parsed = self._parse(sweep.workload, setting)
                values[setting.name] = list(dict.fromkeys(parsed.values()))
                for text, value in parsed.items():
                    choices.setdefault((setting.name, value), set()).add((setting, text))
        for combination in itertools.product(*values.values()):
            named = dict(zip(values, combination, strict=True))
            involved = frozenset[Choice]().union(*(choices.get(item, ()) for item in named.items()))
            try:
                task = make_task(sweep.workload, named)
            except ParameterError as error:
                self.refusals.append((involved, f"{sweep.workload}: {error}"))
                continue
            self._accepted |= involved
            self._add(Point(sweep.workload, canonical(task), self._trials))

    def _here(self, value: Any) -> Any:
        """A value of a sweep on this machine."""
        if not isinstance(value, ByCores):
            return value
        count, note = value.here()
        self.notes |= dict.fromkeys(filter(None, [note]))
        return count

    def _parse(self, workload: str, setting: Setting) -> dict[str, Any]:
        """The values of a setting that suit a workload, by their text."""
        found = {}
        for text in setting.values:
            try:
                found[text] = _declared(workload)[setting.name].parse(text)
            except ParameterError as error:
                self.refusals.append((frozenset([(setting, text)]), f"{workload}: {error}"))
        return found

    def _add(self, point: Point) -> None:
        """Add a point; of points that differ only in how long they run the shortest."""
        named = {setting.name for setting in self._settings if setting.concerns(point.workload)}
        free = [name for name in _LENGTH if name not in named]
        kept = json.dumps({name: value for name, value in point.values.items() if name not in free})
        present = self.points.setdefault((point.workload, kept), point)
        if [point.values[name] for name in _LENGTH] < [present.values[name] for name in _LENGTH]:
            self.points[point.workload, kept] = point

    def check_accepted(self) -> None:
        """Refuse a value that suits nowhere, and a preset that doesn't suit its workload."""
        for setting in self._settings:
            for text in setting.values:
                if (setting, text) not in self._accepted:
                    reasons = (reason for involved, reason in self.refusals if (setting, text) in involved)
                    raise UsageError(f"--set {setting}: {next(reasons)}")
        for involved, reason in self.refusals:
            if not involved:
                raise UsageError(reason)
