"""What `run` measures unless told otherwise: presets of parameter sweeps, sized for two slow cores.

Every value here can be replaced by `--set`. A sweep lists values by parameter; the points are their product.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Values = Mapping[str, tuple[Any, ...]]

MIB = 2**20
MB = 10**6


@dataclass(frozen=True)
class Sweep:
    """Values of some parameters of a workload, the others at default. `trials`: if not the preset's."""

    workload: str
    values: Values = field(default_factory=dict)
    trials: int | None = None


@dataclass(frozen=True)
class Preset:
    """Sweeps with their trials, and how long one trial may take. `backends`: None for all there are."""

    name: str
    summary: str
    trials: int
    time_limit_s: float
    sweeps: tuple[Sweep, ...]
    backends: tuple[str, ...] | None = None


_SMOKE = Preset(
    name="smoke",
    summary="does everything work? one short trial of each workload, about a minute",
    trials=1,
    time_limit_s=60,
    backends=("serial", "reactor-inline", "ray-paper"),
    sweeps=(
        Sweep(
            "broadcast_gather",
            {"actors": (2,), "object_bytes": (MIB,), "rounds": (5,), "warmup_rounds": (1,)},
        ),
        Sweep("gym_sampling", {"env": ("CartPole-v1",), "actors": (2,), "rounds": (100,)}),
        Sweep("atari_sampling", {"env": ("Pong",), "actors": (2,), "rounds": (50,)}),
        Sweep("q_learning", {"actors": (2,), "rounds": (5,), "warmup_rounds": (1,)}),
        Sweep("multi_agent", {"agents": (4,), "rounds": (100,)}),
        Sweep("overhead", {"rounds": (100,)}),
    ),
)

_QUICK = Preset(
    name="quick",
    summary="a first answer with intervals: every workload, few points, five trials",
    trials=5,
    time_limit_s=180,
    sweeps=(
        Sweep("broadcast_gather", {"actors": (2, 4), "object_bytes": (10 * MIB,), "rounds": (20,)}),
        Sweep("gym_sampling", {"env": ("CartPole-v1",), "actors": (4,), "rounds": (500,)}),
        Sweep("atari_sampling", {"env": ("Pong",), "actors": (4,), "rounds": (100,)}),
        Sweep("q_learning", {"actors": (4,), "minibatch": (250,), "rounds": (10,)}),
        Sweep("multi_agent", {"agents": (4,), "rounds": (500,)}),
        Sweep("overhead", {"rounds": (500,)}),
    ),
)

_PAPER = Preset(
    name="paper",
    summary="the paper's parameters, each figure; hours",
    trials=5,
    time_limit_s=4 * 3600,
    sweeps=(
        Sweep(
            "broadcast_gather",
            {
                "actors": (2, 4, 8, 16),
                "object_bytes": (10 * MIB,),
                "work_seconds": (0.5,),
                "rounds": (1_000,),
            },
            trials=1,
        ),
    ),
)

PRESETS: dict[str, Preset] = {preset.name: preset for preset in (_SMOKE, _QUICK, _PAPER)}
