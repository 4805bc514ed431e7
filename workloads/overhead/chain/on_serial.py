"""A chain, which is a ring here: a plain loop has no events."""

from workloads.overhead.thread_ring.on_serial import run

__all__ = ["run"]
