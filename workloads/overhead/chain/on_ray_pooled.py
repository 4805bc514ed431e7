"""A chain, which is a ring here: every arc is a call."""

from workloads.overhead.thread_ring.on_ray_pooled import run

__all__ = ["run"]
