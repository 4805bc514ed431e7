"""The catalogue of figures, and drawing all that a results directory has rows for."""

import json
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
    rows,
    sampling,
    scaling,
    step_time,
    style,
    vectors,
)
from plots.errors import FigureError

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
    "hardware_limit": "Share of what the machine's cores could do",
}

# Added to these: what is drawn from the file of a further command, if there is one, and `hardware_limit`, which needs
# the machine as well.
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
FURTHER: dict[str, tuple[str, Draw]] = {
    "breakdown": (breakdown.FILE, breakdown.phases),
    "scaling": (scaling.FILE, scaling.speed_up),
}


def draw(results_dir: Path, output_dir: Path, tell: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Draw every figure that `results_dir` has rows for, as SVG and PNG, and return the files in order.

    `tell` is called with one line for each figure that can't be drawn and why. Raises FigureError when none
    can, or when nothing can be read or written. A figure of a file that isn't there is not missed.
    """
    table = rows.read(results_dir)
    skipped: list[str] = []
    files: list[Path] = []
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        for name, function in _all(results_dir):
            try:
                with style.applied():
                    figure = function(table)
            except FigureError as fault:
                skipped.append(f"{name}: not drawn: {fault}")
            else:
                files += style.save(figure, output_dir, name)
    except OSError as error:
        raise FigureError(f"{output_dir}: {error.strerror}; expected a directory to write figures into") from None
    if not files:
        raise FigureError(f"{results_dir}: no figure can be drawn; first reason: {skipped[0]}")
    for line in skipped:
        tell(line)
    return files


def _all(results_dir: Path) -> Iterator[tuple[str, Draw]]:
    """Every figure that may be drawn here, in order, as a function of the measurements."""
    yield from FIGURES.items()
    for name, (file, function) in FURTHER.items():
        if (results_dir / file).exists():
            yield name, partial(_further, results_dir, file, function)
    yield "hardware_limit", partial(_hardware_limit, results_dir)


def _further(results_dir: Path, file: str, function: Draw, _: pd.DataFrame) -> Figure:
    return function(rows.read(results_dir, file))


def _hardware_limit(results_dir: Path, table: pd.DataFrame) -> Figure:
    path = results_dir / "machine.json"
    try:
        cores = int(json.loads(path.read_text(encoding="utf-8"))["cores_allowed"])
        if cores < 1:
            raise ValueError(cores)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise FigureError(f"{path} doesn't say cores_allowed, from which the limit is computed") from None
    return hardware_limit.fraction(table, cores)
