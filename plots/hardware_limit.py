"""How near each backend comes to the reference ceiling."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from harness.stats.intervals import Estimate
from plots import dots, notes
from plots.errors import FigureError


def fraction(shares: Mapping[str, Mapping[str, Estimate]], cores: int | None) -> Figure:
    """Speed in percent of the limit of a machine with `cores` cores, by panel and backend. Raises FigureError."""
    if not shares:
        raise FigureError("no workload has a backend beside a limit")
    number = "the cores" if cores is None else "1 core" if cores == 1 else f"{cores} cores"
    counts = [share.count for of_panel in shares.values() for share in of_panel.values()]
    return dots.draw(
        [dots.Panel(title, dict(of_panel)) for title, of_panel in shares.items()],
        f"Share of the reference ceiling on {number}",
        "",
        [
            (
                f"100 %: plain loops in lockstep on {number}, measured, or else the serial loop's pace on {number} at "
                "once, whole environments, workers or agents on each, and no time for communication; for broadcast "
                "and gather the copies alone. Not shown: overhead, which has no work to share."
            ),
            "Lockstep waits by reactorlib's own waiter. Paired by turn.",
            notes.trials(counts),
        ],
        "% of the reference ceiling",
        limit=100.0,
        linear=True,
    )
