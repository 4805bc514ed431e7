"""One environment on each backend: what a round takes, and what part of it is stepping."""

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from harness import quantity
from plots import page, style

_LANE = 0.3  # inches
_ROOM = 1.16  # for what stands beside the longest bar


def draw(title: str, answer: str, rounds_ns: Mapping[str, float], ideal_ns: float) -> Figure:
    """The time of a round by backend, the fastest on top; solid is what stepping on all cores alone would take."""
    figure, (axes,) = page.page(
        title,
        answer,
        [
            (
                "Solid: stepping the environments on all cores. Hatched: messages, scheduling, waiting, and cores that "
                "are not used. Measured in turns, by `python -m harness advise`."
            )
        ],
        0.5 + _LANE * len(rounds_ns),
    )
    for position, (backend, round_ns) in enumerate(rounds_ns.items()):
        solid, look = min(ideal_ns, round_ns), style.look(backend)
        axes.barh(position, solid, height=0.62, color=look.color)
        axes.barh(
            position, round_ns - solid, left=solid, height=0.62, facecolor="white", edgecolor=look.color, hatch="////"
        )  # fmt: skip
        axes.text(round_ns, position, f" {quantity.duration(round_ns)}", va="center", fontsize=8.5)
    page.lanes(axes, [style.look(name).label for name in rounds_ns])
    axes.set_xlim(0, _ROOM * max(rounds_ns.values()))
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: quantity.duration_tick(value)))
    axes.set_xlabel("time of a round")
    return figure
