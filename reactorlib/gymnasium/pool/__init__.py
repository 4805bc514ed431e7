"""The pool: `reactor_pool.py` is what users call, `member.py` one of its workers, `batch_order.py` what a batch is.

`results.py` keeps the results of steps until they are received. `record.py` writes what a pool did, and lets another
one do the same. `recorded_step.py` shows one step of it.
"""

from reactorlib.gymnasium.pool.reactor_pool import ReactorPool
from reactorlib.gymnasium.pool.record import ReplayError
from reactorlib.gymnasium.pool.recorded_step import replayed_step

__all__ = ["ReactorPool", "ReplayError", "replayed_step"]
