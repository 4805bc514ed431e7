"""Measurement rows as the figures need them. Chooses from those of a run; reads no file.

Checks what a figure relies on and says in one line what is missing; never changes a value.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from harness.stats.intervals import Estimate, mean
from harness.stats.moderated import moderated, nested
from plots.errors import FigureError

_NEEDED = ("workload", "scenario", "backend", "metric", "value")
_PARAMETER_COLUMNS = ("actors", "object_bytes", "steps_per_message", "minibatch")
# These change how long something is measured, not what.
_NOT_A_SETTING = frozenset({"seed", "rounds", "warmup_rounds", "messages_per_round"})


@dataclass(frozen=True)
class Selection:
    """The rows of one figure: one workload and metric, and one setting of every parameter the figure doesn't
    vary.

    `frame` has the columns backend, scenario, trial, value, unit and those of `varied`. `setting` holds the
    other parameters; `omitted` counts the settings that the rows have besides.
    """

    frame: pd.DataFrame
    varied: tuple[str, ...]
    setting: Mapping[str, Any]
    omitted: int

    def trials(self, *by: str) -> dict[tuple[Any, ...], dict[int, float]]:
        """The values by trial for each combination of these columns."""
        groups = self.frame.groupby(list(by), sort=True)
        return {key: dict(zip(group["trial"], group["value"], strict=True)) for key, group in groups}

    def cells(self, *by: str) -> dict[tuple[Any, ...], Estimate]:
        """Mean and interval over trials for each combination of these columns."""
        own = {key: mean(list(values.values())) for key, values in self.trials(*by).items()}
        return moderated(own, lambda key: tuple(at for at, name in zip(key, by, strict=True) if name != "backend"))

    def curves(self, x: str, convert: Callable[[Estimate], Estimate]) -> dict[str, dict[float, Estimate]]:
        """For each backend, the converted estimate at each value of the column `x`."""
        cells = self.cells("backend", x).items()
        return nested({(str(backend), float(at)): convert(value) for (backend, at), value in cells})

    def distinct(self, name: str) -> list[Any]:
        """The values of a column, sorted."""
        return sorted(self.frame[name].unique().tolist())


def select(
    rows: pd.DataFrame,
    workload: str,
    metric: str,
    varied: Sequence[str],
    where: Mapping[str, Any] = MappingProxyType({}),
) -> Selection:
    """What a figure of `workload` shows of these rows when it varies the parameters `varied`.

    Only rows whose parameters equal those of `where` count.

    Where the other parameters come in several settings, the one with the most to show is taken. Raises
    FigureError where a needed column is missing, a value is no number, or nothing is left.
    """
    missing = [name for name in _NEEDED if name not in rows.columns]
    if missing:
        raise FigureError(f"column {missing[0]!r} is missing; expected {', '.join(_NEEDED)}")
    chosen = rows[(rows["workload"] == workload) & (rows["metric"] == metric)]
    if "status" in rows.columns:
        chosen = chosen[chosen["status"] == "ok"]
    if chosen.empty:
        raise FigureError(f"no successful rows of {workload} with the metric {metric}")
    records = [(record, setting_of(record)) for record in chosen.to_dict("records")]
    records = [(record, setting) for record, setting in records if where.items() <= setting.items()]
    if not records:
        wanted = ", ".join(f"{name}={value}" for name, value in where.items())
        raise FigureError(f"no successful rows of {workload} with {wanted}")
    for name in varied:
        if not all(name in setting for _, setting in records):
            raise FigureError(f"rows of {workload} don't say their {name}; expected a column or parameter of that name")
    varying = {name for name in _NOT_A_SETTING if _differs_alone(name, varied, records)}
    points = [
        {
            "backend": record["backend"],
            "scenario": record["scenario"],
            "trial": int(number("trial", record.get("trial") or 0)),
            "value": _measured(metric, record["value"]),
            "workers": number("workers", record.get("workers") or 0),
            "setting": _fixed(setting, varied, varying),
            **{name: setting[name] for name in varied},
        }
        for record, setting in records
    ]
    return _most_shown(pd.DataFrame(points), tuple(varied))


def says(rows: pd.DataFrame, workload: str, name: str) -> bool:
    """Whether all rows of a workload say this parameter, which those of an earlier version may not."""
    return all(name in setting_of(record) for record in rows[rows["workload"] == workload].to_dict("records"))


def setting_of(record: Mapping[Any, Any]) -> dict[str, Any]:
    """All parameters of a row: what the JSON column says, or without it the columns of their own."""
    text = record.get("parameters") or "{}"
    try:
        setting = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        setting = None
    if not isinstance(setting, dict):
        raise FigureError(f"column 'parameters' holds {text!r}; expected a JSON object")
    return setting or {name: int(number(name, record[name])) for name in _PARAMETER_COLUMNS if record.get(name)}


def _fixed(setting: Mapping[str, Any], varied: Sequence[str], also: Collection[str] = ()) -> str:
    ignored = {*_NOT_A_SETTING, *varied} - {*also}
    return json.dumps({name: value for name, value in setting.items() if name not in ignored}, sort_keys=True)


def _differs_alone(name: str, varied: Sequence[str], records: Sequence[tuple[Any, Mapping[str, Any]]]) -> bool:
    """Whether a trial is there twice, with this parameter different: then it is a setting after all."""
    found: dict[tuple[Any, ...], Any] = {}
    for record, setting in records:
        trial = (record["scenario"], record["backend"], record.get("workers"), record.get("trial"))
        at = (*trial, _fixed(setting, varied), *(str(setting[one]) for one in varied))
        if found.setdefault(at, setting.get(name)) != setting.get(name):
            return True
    return False


def _most_shown(frame: pd.DataFrame, varied: tuple[str, ...]) -> Selection:
    """The setting with the most different points; at each, of a parallel backend the rows with the most workers.

    Among equals what `preference` prefers.
    """
    points = frame[["setting", "backend", "scenario", *varied]].drop_duplicates()
    counts = Counter(points["setting"])
    setting = max(counts, key=lambda text: (counts[text], preference(json.loads(text)), text))
    frame = frame[frame["setting"] == setting].drop(columns="setting")
    frame = frame[frame["workers"] == frame.groupby(["backend", "scenario", *varied])["workers"].transform("max")]
    # Sorted, so that the same rows in another order give the same interval.
    frame = frame.sort_values("trial", ignore_index=True)
    return Selection(frame, varied, json.loads(setting), len(counts) - 1)


def preference(setting: Mapping[str, Any]) -> tuple[float, ...]:
    """Larger for a setting to be shown rather than another: contiguous arrays, an environment at its own pace, one step
    per message as in the paper, many actors, many bytes.
    """
    return (
        setting.get("representation", "arrays") == "arrays",
        -setting.get("step_busy_us", 0.0),
        -setting.get("steps_per_message", 1),
        setting.get("actors", 0),
        setting.get("agents", 0),
        setting.get("object_bytes", 0),
    )


def _measured(metric: str, value: Any) -> float:
    found = number("value", value)
    if not math.isfinite(found) or (found <= 0 and metric != "overhead"):  # a difference may be negative
        raise FigureError(f"column 'value' holds {value!r} for {metric}; expected a positive number")
    return found


def number(name: str, value: Any) -> float:
    """A cell of the column `name` as a number; raises FigureError."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise FigureError(f"column {name!r} holds {value!r}; expected a number") from None
