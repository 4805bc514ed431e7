"""The catalogue of figures, and drawing those for which a run has something to show."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.report.figures.crossover_figures import crossover
from harness.report.figures.figure_points import on_cores
from harness.report.figures.paper_figures import by_actors, by_agents, by_object_size, by_steps, q_learning
from harness.report.figures.round_figures import hardware_limit, round_time
from harness.report.figures.sampling_figures import step_time, throughput, vectors
from harness.report.figures.study_figures import scaling
from harness.report.figures.system_figures import actor_systems
from harness.report.figures.thread_figures import against_processes
from harness.report.summary import Summary
from plots import page, style
from plots.chart import Chart

# Each figure with what it shows, for the text around it, in the order of the report.
FIGURES: dict[str, tuple[str, Callable[..., Chart | None]]] = {
    "step_time": ("What a step of an environment costs, by how long the environment takes", step_time),
    "broadcast_gather_actors": ("Broadcast and gather: overhead per round by number of actors", by_actors),
    "broadcast_gather_size": ("Broadcast and gather: overhead per round by object size", by_object_size),
    "gym_sampling": ("Gymnasium: observations per second by environment", partial(throughput, workload="gym_sampling")),
    "atari_sampling": ("Atari: observations per second by game", partial(throughput, workload="atari_sampling")),
    "q_learning": ("Q-learning: training time by minibatch", q_learning),
    "multi_agent_agents": ("Traffic Junction: time for 100,000 steps by number of agents", by_agents),
    "multi_agent_steps": ("Traffic Junction: time elapsed by steps", by_steps),
    "crossover": ("When Ray catches up: step time, size of an observation, steps per message", crossover),
    "vectors": ("Vector environments, by how long the environment takes", vectors),
    "actor_systems": ("Reactors and actor systems, over the plain loop", actor_systems),
    "threads": ("Threads without a GIL, processes and Ray", against_processes),
    "round_time": ("How long a round takes", round_time),
    "scaling": ("Predicted and measured scaling with workers", scaling),
    "hardware_limit": ("Share of the reference ceiling", hardware_limit),
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
