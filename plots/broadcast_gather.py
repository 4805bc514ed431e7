"""Overhead of a round of broadcast and gather, by number of actors and by size of the array."""

from collections.abc import Callable, Sequence

import pandas as pd
from matplotlib.figure import Figure

from harness import quantity
from plots import lines, notes, published, rows

_MIB = 2**20
_MS_PER_NS = 1e-6
_INLINED = 100 * 1024  # bytes: Ray's default of max_direct_call_object_size


def by_actors(measurements: pd.DataFrame) -> Figure:
    """Overhead per round in ms by number of actors. Raises FigureError."""
    reference = [(series, series.numeric()) for series in published.series("broadcast_gather_actors")]
    return _draw(measurements, "actors", reference, "number of actors", "actors", quantity.count, "arrays of 10 MiB")


def by_object_size(measurements: pd.DataFrame) -> Figure:
    """Overhead per round in ms by size of the broadcast array. Raises FigureError."""
    reference = [(series, series.numeric(_MIB)) for series in published.series("broadcast_gather_size")]
    return _draw(
        measurements, "object_bytes", reference, "object size", "size of the array", quantity.size, "16 actors"
    )


def _draw(
    measurements: pd.DataFrame,
    varied: str,
    reference: Sequence[tuple[published.Series, lines.Points]],
    by: str,
    x_label: str,
    x_text: Callable[[float], str],
    condition: str,
) -> Figure:
    selection = rows.select(measurements, "broadcast_gather", "overhead", [varied])
    panel = lines.Panel(selection.curves(varied, lambda value: value.scaled(_MS_PER_NS)), reference)
    remarks = notes.below(selection, published=condition if reference else None)
    ray = (points for name, points in panel.measured.items() if name.startswith("ray"))
    if varied == "object_bytes" and any(min(points) <= _INLINED < max(points) for points in ray):
        remarks.append("Ray sends up to 100 KiB within a message, a larger array by its object store.")
    return lines.single(
        f"Broadcast and gather: overhead by {by}",
        notes.fixed(selection),
        remarks,
        panel,
        x_label,
        x_text,
        "round time without the simulated work (ms)",
    )
