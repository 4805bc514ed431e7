"""Overhead of a round of broadcast and gather, by number of actors and by size of the array."""

from collections.abc import Callable, Sequence

import pandas as pd
from matplotlib.figure import Figure

from plots import lines, notes, published, quantity, rows

_MIB = 2**20
_MS_PER_NS = 1e-6
_INLINED = 100 * 1024  # bytes: Ray's default of max_direct_call_object_size


def by_actors(measurements: pd.DataFrame) -> Figure:
    """Overhead per round in ms by number of actors. Raises FigureError."""
    reference = [(series, series.numeric()) for series in published.series("broadcast_gather_actors")]
    panel, selection = _panel(measurements, "actors", reference)
    return _draw("number of actors", panel, selection, "actors", quantity.count, "arrays of 10 MiB")


def by_object_size(measurements: pd.DataFrame) -> Figure:
    """Overhead per round in ms by size of the broadcast array. Raises FigureError."""
    reference = [(series, series.numeric(_MIB)) for series in published.series("broadcast_gather_size")]
    panel, selection = _panel(measurements, "object_bytes", reference)
    remarks = []
    if any(name.startswith("ray") and min(points) <= _INLINED < max(points) for name, points in panel.measured.items()):
        remarks.append("Ray sends up to 100 KiB within a message, a larger array by its object store.")
    return _draw("object size", panel, selection, "size of the array", quantity.size, "16 actors", remarks)


def _panel(
    measurements: pd.DataFrame, varied: str, reference: Sequence[tuple[published.Series, lines.Points]]
) -> tuple[lines.Panel, rows.Selection]:
    selection = rows.select(measurements, "broadcast_gather", "overhead", [varied])
    return lines.Panel(selection.curves(varied, lambda value: value.scaled(_MS_PER_NS)), reference), selection


def _draw(
    by: str,
    panel: lines.Panel,
    selection: rows.Selection,
    x_label: str,
    x_text: Callable[[float], str],
    condition: str,
    remarks: Sequence[str] = (),
) -> Figure:
    return lines.single(
        f"Broadcast and gather: overhead by {by}",
        notes.fixed(selection),
        [*notes.below(selection, published=condition if panel.published else None), *remarks],
        panel,
        x_label,
        x_text,
        "round time without the simulated work (ms)",
    )
