"""What the figures of a run show, from its summary. Draws nothing, reads no file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness import quantity
from harness.report import verdict
from harness.report.summary import LIMIT, PointSummary, Summary
from harness.stats import limits
from harness.stats.intervals import Estimate

if TYPE_CHECKING:
    import pandas as pd  # takes a second to import

    from plots.material import Material

_NAMES = {
    "gym_sampling": "Gymnasium",
    "atari_sampling": "Atari",
    "q_learning": "Q-learning",
    "multi_agent": "Traffic Junction",
    "ppo": "PPO",
    "broadcast_gather": "Broadcast and gather",
}
_SIZES = ("actors", "agents")
_PERCENT = 100
_PAPER = "ray-paper"


def material(summary: Summary, *, all_backends: bool = False) -> "Material":
    """What the figures show: the loop, reactors on all cores, each Ray that is the best somewhere, Ray as in the paper,
    and the ceiling. `all_backends`: everything.
    """
    from plots.material import Material

    chosen = {row.backend for row in summary.rows} if all_backends else _shown(summary)
    shown = [row for row in summary.rows if row.backend in chosen]
    return Material(
        measurements=_frame(shown),
        vectors=_frame(summary.rows),
        breakdown=_frame(summary.phases),
        scaling=_frame(summary.scaling),
        limit_shares={
            title: {name: share for name, share in shares.items() if name in chosen}
            for title, shares in _limit_shares(summary.points)
        },
        cores=summary.machine.get("cores_allowed"),
    )


def _shown(summary: Summary) -> set[str]:
    ours = verdict.parallel(summary)
    cells = [cell for point in summary.points for cell in point.cells if cell.backend == ours]
    best = {found[1] for cell in cells if (found := verdict.best_ray(cell)) is not None}
    present = {row.backend for row in summary.rows}
    chosen = {verdict.LOOP, ours, _PAPER, *best, *filter(limits.is_limit, present)}
    # A run without reactors on all cores shows what it has.
    return chosen if ours in present else present


def _frame(rows: Sequence[Any]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame([asdict(row) for row in rows], dtype=object)


def _limit_shares(points: Sequence[PointSummary]) -> Iterator[tuple[str, Mapping[str, Estimate]]]:
    """Of each workload and environment the speed of each backend in percent of the limit, by the panel's title."""
    chosen: dict[tuple[str, object], tuple[PointSummary, dict[str, Estimate]]] = {}
    for point in points:
        shares = {cell.backend: cell.speedups[LIMIT] for cell in point.cells if LIMIT in cell.speedups}
        place = point.workload, point.parameters.get("env")
        if point.workload in _NAMES and shares:
            chosen[place] = max(chosen.get(place, (point, shares)), (point, shares), key=_rank)
    for point, shares in chosen.values():
        named = str(point.parameters.get("env") or "")
        size = {name: point.parameters[name] for name in _SIZES if name in point.parameters}
        title = f"{_NAMES[point.workload]}{': ' if named else ''}{named}\n{quantity.sentence(size)}"
        yield title, {backend: share.scaled(_PERCENT) for backend, share in shares.items()}


def _rank(candidate: tuple[PointSummary, Mapping[str, Estimate]]) -> tuple[float, ...]:
    """Larger for a point to be shown rather than another: many backends, one step per message, large objects."""
    point, shares = candidate
    given = point.parameters
    return (
        len(shares),
        -given.get("steps_per_message", 1),
        *(given.get(name, 0) for name in _SIZES),
        given.get("object_bytes", 0),
    )
