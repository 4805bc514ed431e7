"""Time that Traffic Junction takes, by number of agents and by steps taken so far."""

import pandas as pd
from matplotlib.figure import Figure

from harness import quantity
from plots import dots, lines, notes, page, published, rows

_STEPS = 100_000  # the paper's run
_MARKS = range(10_000, _STEPS + 1, 10_000)
_METHOD = "Computed from the throughput, whatever number of steps was measured."


def by_agents(measurements: pd.DataFrame) -> Figure:
    """Seconds for 100,000 steps by number of agents, and by the least time of a step. Raises FigureError."""
    paces = ["step_busy_us"] if rows.says(measurements, "multi_agent", "step_busy_us") else []
    selection = rows.select(measurements, "multi_agent", "throughput", ["agents", *paces])
    cells = selection.cells("agents", *paces, "backend")
    reference = published.series("multi_agent_agents")
    panels = [
        dots.Panel(
            ", ".join([f"{agents} agents", *(f"steps of {busy_us:g} µs" for busy_us in pace if busy_us)]),
            {
                backend: rate.inverse().scaled(_STEPS)
                for (*point, backend), rate in cells.items()
                if tuple(point) == (agents, *pace)
            },
            [(series, series.points[str(agents)]) for series in reference if str(agents) in series.points],
        )
        for agents, *pace in dict.fromkeys(tuple(point) for *point, _ in cells)
    ]
    condition = "100,000 steps" if any(panel.published for panel in panels) else None
    return dots.draw(
        panels,
        f"Traffic Junction: time for {_STEPS:,} steps",
        notes.fixed(selection),
        [_METHOD, *notes.below(selection, published=condition)],
        "seconds",
    )


def by_steps(measurements: pd.DataFrame) -> Figure:
    """Seconds elapsed by steps taken, a panel per number of agents. Raises FigureError.

    Rows hold no time stamps of single rounds, so a measured curve is that of its mean pace.
    """
    selection = rows.select(measurements, "multi_agent", "throughput", ["agents"])
    cells = selection.cells("agents", "backend")
    panels = [
        lines.Panel(
            {
                backend: {float(steps): rate.inverse().scaled(steps) for steps in _MARKS}
                for (count, backend), rate in cells.items()
                if count == agents
            },
            [(one, one.numeric()) for one in published.series("multi_agent_episodes", f"TrafficJunction{agents}")],
            f"{agents} agents",
        )
        for agents in selection.distinct("agents")
    ]
    condition = "4 agents" if any(panel.published for panel in panels) else None
    figure, axes, across = page.panels(
        "Traffic Junction: time elapsed by steps",
        notes.fixed(selection),
        [
            "Measured lines are computed from the throughput: the pace is taken as constant.",
            *notes.below(selection, published=condition),
        ],
        len(panels),
        3.2,
    )
    for one, panel in zip(axes, panels, strict=True):
        lines.curves(one, panel)
        page.scale(one, "x", [_MARKS[0], _MARKS[-1]], quantity.tick, most=5)
        ends = [points[_STEPS].value for points in panel.measured.values()]
        page.scale(one, "y", panel.extent, decided_by=ends)
        one.set_xlabel("environment steps")
        one.set_ylabel("elapsed (s)")
    lines.legend(axes[across - 1], axes)
    return figure
