"""The catalogue of figures, and drawing those for which a run has something to show."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.report.figures import (
    crossover_figures,
    paper_figures,
    round_figures,
    sampling_figures,
    study_figures,
    thread_figures,
)
from harness.report.figures.figure_points import on_cores
from harness.report.summary import Summary
from plots import page, style
from plots.chart import Chart

Make = Callable[..., Chart | None]

# Each figure with what it shows, for the text around it, in the order of the report.
FIGURES: dict[str, tuple[str, Make]] = {
    "step_time": ("What a step of an environment costs, by how long the environment takes", sampling_figures.step_time),
    "broadcast_gather_actors": (
        "Broadcast and gather: overhead per round by number of actors",
        paper_figures.by_actors,
    ),
    "broadcast_gather_size": ("Broadcast and gather: overhead per round by object size", paper_figures.by_object_size),
    "gym_sampling": (
        "Gymnasium: observations per second by environment",
        partial(sampling_figures.throughput, workload="gym_sampling"),
    ),
    "atari_sampling": (
        "Atari: observations per second by game",
        partial(sampling_figures.throughput, workload="atari_sampling"),
    ),
    "q_learning": ("Q-learning: training time by minibatch", paper_figures.q_learning),
    "multi_agent_agents": ("Traffic Junction: time for 100,000 steps by number of agents", paper_figures.by_agents),
    "multi_agent_steps": ("Traffic Junction: time elapsed by steps", paper_figures.by_steps),
    "overhead_shapes": ("Cost of one reaction by shape of communication", paper_figures.by_shape),
    "crossover": (
        "When Ray catches up: step time, size of an observation, steps per message",
        crossover_figures.crossover,
    ),
    "vectors": ("Vector environments, by how long the environment takes", sampling_figures.vectors),
    "threads": ("Threads without a GIL, processes and Ray", thread_figures.against_processes),
    "round_time": ("How long a round takes", round_figures.round_time),
    "breakdown": ("The phases of a round: computing, serialising, handing over, waiting", study_figures.breakdown),
    "scaling": ("Predicted and measured scaling with workers", study_figures.scaling),
    "hardware_limit": ("Share of the reference ceiling", round_figures.hardware_limit),
}


def draw(summary: Summary, *, everything: bool = False) -> dict[str, Path]:
    """Draw every figure for which there is something to show into `figures/`; the files by name, in order.

    Each title has the number of cores. `everything`: all backends instead of those that a figure shows by default.
    Raises OSError.
    """
    directory, where = summary.path / "figures", on_cores(summary)
    drawn = {}
    for name, (_, make) in FIGURES.items():
        chart = make(summary, everything=everything)
        if chart is not None:
            directory.mkdir(parents=True, exist_ok=True)
            if not chart.title.startswith(where):
                chart = replace(chart, title=f"{chart.title} ({where[0].lower()}{where[1:]})")
            drawn[name] = style.save(page.render(chart), directory / f"{name}.svg")
    return drawn


def caption(name: str) -> str:
    """The text for a figure's place on a page."""
    return FIGURES[name][0]
