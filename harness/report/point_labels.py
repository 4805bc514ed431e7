"""A name for each point of a run, from what its parameters vary."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness import quantity
from harness.grouping import grouped
from harness.store.measurement_table import Measurement
from harness.store.phase_table import PhaseRow
from harness.store.scaling_table import ScalingRow

_NOT_A_SETTING = ("rounds", "warmup_rounds", "seed")
_SIZES = ("actors", "agents")


def point_labels(rows: Iterable[Measurement | PhaseRow | ScalingRow]) -> dict[tuple[str, str], str]:
    """A name for each point, unique within its workload, from what its parameters vary."""
    scenarios = {row.point: row.scenario for row in rows}
    values = {point: json.loads(point[1]) for point in scenarios}
    labels = {}
    for point, scenario in scenarios.items():
        peers = [other for other in scenarios if other[0] == point[0]]
        names = [
            name
            for name in values[point]
            if name in _SIZES or _says_more(name, [(scenarios[peer], values[peer].get(name)) for peer in peers])
        ]
        labels[point] = _label(scenario, values[point], names)
    return _told_apart(labels, values)


def _label(beginning: str, values: Mapping[str, Any], names: Sequence[str]) -> str:
    return ", ".join([beginning, *(quantity.parameter(name, values[name]) for name in names if name in values)])


def _told_apart(
    labels: Mapping[tuple[str, str], str], values: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[tuple[str, str], str]:
    """The labels; where several points of a workload have the same, with what differs between them."""
    told: dict[tuple[str, str], str] = {}
    for (_, label), namesakes in grouped(labels, lambda point: (point[0], labels[point])).items():
        names = [name for name in _NOT_A_SETTING if len({values[point].get(name) for point in namesakes}) > 1]
        told |= {point: _label(label, values[point], names) for point in namesakes}
    return {point: told[point] for point in labels}


def _says_more(name: str, told: Sequence[tuple[str, Any]]) -> bool:
    """Whether a parameter, given with each point's scenario, varies where the scenario doesn't."""
    return name not in _NOT_A_SETTING and len(set(told)) > len({scenario for scenario, _ in told})
