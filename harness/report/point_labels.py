"""A name for each point of a run, from what its parameters vary."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from harness import quantity
from harness.grouping import grouped
from harness.store.measurement_table import Measurement
from harness.store.scaling_table import ScalingRow

_LENGTHS = ("rounds", "warmup_rounds", "seed")  # no settings: how long, and with which numbers
_SIZES = ("actors", "agents")


def point_labels(rows: Iterable[Measurement | ScalingRow]) -> dict[tuple[str, str], str]:
    """A name for each point, unique within its workload, from what its parameters vary."""
    scenarios = {row.point: row.scenario for row in rows}
    labels: dict[tuple[str, str], str] = {}
    for peers in grouped(scenarios, lambda point: point[0]).values():
        values = {peer: json.loads(peer[1]) for peer in peers}
        known = dict.fromkeys(name for peer in peers for name in values[peer])
        # A setting is named where it varies and the scenario doesn't: it has more pairs with scenarios than these are.
        pairs = {name: {(scenarios[peer], values[peer].get(name)) for peer in peers} for name in known}
        count = len({scenarios[peer] for peer in peers})
        names = [name for name in known if name in _SIZES or (name not in _LENGTHS and len(pairs[name]) > count)]
        plain = {peer: _label(scenarios[peer], values[peer], names) for peer in peers}
        for namesakes in grouped(peers, plain.__getitem__).values():
            differing = [name for name in _LENGTHS if len({values[peer].get(name) for peer in namesakes}) > 1]
            labels |= {peer: _label(plain[peer], values[peer], differing) for peer in namesakes}
    return {point: labels[point] for point in scenarios}


def _label(beginning: str, values: Mapping[str, Any], names: Iterable[str]) -> str:
    return ", ".join([beginning, *(quantity.parameter(name, values[name]) for name in names if name in values)])
