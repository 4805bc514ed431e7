"""As in gym_sampling: the two workloads differ in the environments that their tasks make."""

from workloads.gym_sampling.on_reactor_lf import run

__all__ = ["run"]
