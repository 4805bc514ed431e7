"""Made-up work that uses a processor for a given time."""

from time import thread_time_ns


def keep_busy(began_ns: int, for_ns: float) -> None:
    """Compute until this thread has had `for_ns` of processor time since `began_ns`, as read from `thread_time_ns`.

    Threads and processes that share a processor take turns, as they do with real work.
    """
    while thread_time_ns() - began_ns < for_ns:
        pass
