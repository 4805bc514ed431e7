"""Sampling of Atari environments is that of Gymnasium's."""

from workloads.gym_sampling.on_actors import run

__all__ = ["run"]
