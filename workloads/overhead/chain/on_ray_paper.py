"""A chain, which is a ring here: every hop is a call."""

from workloads.overhead.thread_ring.on_ray_paper import run

__all__ = ["run"]
