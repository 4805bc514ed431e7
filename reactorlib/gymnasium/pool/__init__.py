"""The pool: `reactor_pool.py` is what users call, `member.py` one of its workers, `batch_order.py` what a batch is.

`results.py` keeps the results of steps until they are received.
"""

from reactorlib.gymnasium.pool.reactor_pool import ReactorPool

__all__ = ["ReactorPool"]
