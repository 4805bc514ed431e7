"""Two nodes: what a message there and back takes, and sampling, on each engine."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from matplotlib.figure import Figure

from harness import quantity
from harness.stats import intervals
from plots import dots, lines, style
from plots.errors import FigureError

# A repetition of an engine at a point; see harness/nodes.
Row = Mapping[str, Any]

_LATENCY = "latency"
_SOCKET = "tcp"
_BASE = "ray-pooled"
_WHERE = "Two hosts on one machine: network namespaces with a processor each at best, joined by a virtual link."


def latency(rows: Sequence[Row]) -> Figure:
    """Times of a message there and back as ratios to a plain socket's, by size. Raises FigureError."""
    sizes = sorted({int(size) for row in rows if row["point"] == _LATENCY for size in row["result"] or {}})
    curves: dict[str, dict[float, intervals.Estimate]] = {}
    socket_us = []
    for size in sizes:
        times = _by_engine(rows, _LATENCY, lambda result, key=str(size): median(result[key]))  # type: ignore[misc]
        socket_us.append(f"{quantity.size(size)}: {median(times.get(_SOCKET, {0: 0.0}).values()):,.0f} us")
        for engine, ratio in _ratios(times, _SOCKET):
            curves.setdefault(engine, {})[size] = ratio
    if not curves:
        raise FigureError(f"no repetition with the times of {_SOCKET} and of another engine")
    figure = lines.single(
        "A message to another node and back, beside a plain socket",
        "",
        [
            _WHERE,
            (
                "Median time of a repetition's rounds, in that of a blocking TCP socket. Reactors and Ray take an "
                "array as their users would, the others bytes into memory that is there."
            ),
            f"The socket's own: {', '.join(socket_us)}.",
        ],
        lines.Panel(curves, levels=(1.0,)),
        "size of the message",
        quantity.size,
        "time, in that of a socket (×)",
    )
    figure.axes[0].axhline(1.0, color=style.FAINT, linewidth=1.0, zorder=1)
    return figure


def sampling(rows: Sequence[Row]) -> Figure:
    """Speed of sampling on two nodes as a ratio to that of one Ray actor per core. Raises FigureError."""
    panels = []
    for point in dict.fromkeys(row["point"] for row in rows if row["point"] != _LATENCY):
        times = _by_engine(rows, point, lambda result: result["us"])
        if speeds := {engine: ratio.inverse() for engine, ratio in _ratios(times, _BASE)}:
            panels.append(dots.Panel(point, speeds))
    if not panels:
        raise FigureError(f"no repetition with {_BASE} and another engine")
    digests = {(row["point"], row["result"]["digest"]) for row in rows if row["point"] != _LATENCY and row["result"]}
    told = "All computed the same: their digests are equal." if len(digests) == len(panels) else "Digests differ!"
    return dots.draw(
        panels,
        "Sampling on two nodes",
        "",
        [_WHERE, f"Rounds per second, as a ratio to one Ray actor per core. {told} `serial` is on one node."],
        f"times the speed of {_BASE}",
        limit=1.0,
    )


def _by_engine(
    rows: Iterable[Row], point: str, value: Callable[[Mapping[str, Any]], float]
) -> dict[str, dict[int, float]]:
    """A number for each repetition, by engine."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["point"] == point and row["result"]:
            found.setdefault(row["engine"], {})[row["repetition"]] = value(row["result"])
    return found


def _ratios(times: Mapping[str, Mapping[int, float]], base: str) -> Iterable[tuple[str, intervals.Estimate]]:
    for engine, own in times.items():
        if engine != base and own.keys() & times.get(base, {}).keys():
            yield engine, intervals.ratio(own, times[base])
