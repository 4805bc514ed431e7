"""The catalogue of figures, and drawing all for which a run has something to show. Reads no file."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from plots import (
    breakdown,
    broadcast_gather,
    crossover,
    granularity,
    hardware_limit,
    multi_agent,
    overhead,
    q_learning,
    round_time,
    sampling,
    scaling,
    step_time,
    style,
    vectors,
)
from plots.errors import FigureError
from plots.material import Material

Draw = Callable[[pd.DataFrame], Figure]

# What each file shows, for the text around it, in the order of the report.
CAPTIONS = {
    "step_time": "What a step of an environment costs, by how long the environment takes",
    "broadcast_gather_actors": "Broadcast and gather: overhead per round by number of actors",
    "broadcast_gather_size": "Broadcast and gather: overhead per round by object size",
    "gym_sampling": "Gymnasium: observations per second by environment",
    "atari_sampling": "Atari: observations per second by game",
    "q_learning": "Q-learning: training time by minibatch",
    "multi_agent_agents": "Traffic Junction: time for 100,000 steps by number of agents",
    "multi_agent_steps": "Traffic Junction: time elapsed by steps",
    "overhead_shapes": "Cost of one reaction by shape of communication",
    "overhead_fan_out": "Cost of one reaction by fan-out",
    "granularity": "Speed-up over Ray by steps per message",
    "crossover": "From where on Ray is as good: step time, size of an observation, steps per message",
    "vectors": "Vector environments, by how long the environment takes",
    "round_time": "Where a round's time goes",
    "breakdown": "The phases of a round: computing, serialising, handing over, waiting",
    "scaling": "Predicted and measured scaling with workers",
    "hardware_limit": "Share of the reference ceiling",
}

FIGURES: dict[str, Draw] = {
    "step_time": step_time.cost,
    "broadcast_gather_actors": broadcast_gather.by_actors,
    "broadcast_gather_size": broadcast_gather.by_object_size,
    "gym_sampling": partial(sampling.throughput, workload="gym_sampling"),
    "atari_sampling": partial(sampling.throughput, workload="atari_sampling"),
    "q_learning": q_learning.by_minibatch,
    "multi_agent_agents": multi_agent.by_agents,
    "multi_agent_steps": multi_agent.by_steps,
    "overhead_shapes": overhead.by_shape,
    "overhead_fan_out": overhead.by_fan_out,
    "granularity": granularity.speed_up,
    "crossover": crossover.speed_up,
    "vectors": vectors.speed_up,
    "round_time": round_time.breakdown,
}
# Drawn where a study was made of the run.
FURTHER: dict[str, tuple[Callable[[Material], pd.DataFrame], Draw]] = {
    "breakdown": (lambda material: material.breakdown, breakdown.phases),
    "scaling": (lambda material: material.scaling, scaling.speed_up),
}


def draw(material: Material, output_dir: Path, tell: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Draw every figure for which there is something to show, as SVG and PNG, and return the files in order.

    `tell` is called with one line for each figure that can't be drawn and why. Raises FigureError when none
    can, or when nothing can be written. A figure of a study that was not made is not missed.
    """
    skipped: list[str] = []
    files: list[Path] = []
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        for name, function in _all(material):
            try:
                with style.applied():
                    figure = function()
            except FigureError as fault:
                skipped.append(f"{name}: not drawn: {fault}")
            else:
                files += style.save(figure, output_dir, name)
    except OSError as error:
        raise FigureError(f"{output_dir}: {error.strerror}; expected a directory to write figures into") from None
    if not files:
        raise FigureError(f"no figure can be drawn; first reason: {skipped[0]}")
    for line in skipped:
        tell(line)
    return files


def _all(material: Material) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Every figure that may be drawn of it, in order."""
    for name, function in FIGURES.items():
        yield name, partial(function, material.vectors if name == "vectors" else material.measurements)
    for name, (rows, function) in FURTHER.items():
        if not rows(material).empty:
            yield name, partial(function, rows(material))
    yield "hardware_limit", partial(hardware_limit.fraction, material.limit_shares, material.cores)
