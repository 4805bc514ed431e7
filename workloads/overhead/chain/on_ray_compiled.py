"""A chain, which is a ring here: a lap is an execution."""

from workloads.overhead.thread_ring.on_ray_compiled import run

__all__ = ["run"]
