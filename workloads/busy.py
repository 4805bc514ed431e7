"""Work that is made up: it takes a processor for as long as it is told to."""

from time import thread_time_ns


def keep_busy(began_ns: int, for_ns: float) -> None:
    """Compute until this thread has had a processor for so long since `began_ns`, as `thread_time_ns` says. Threads and
    processes that share one take turns, as they do with real work.
    """
    while thread_time_ns() - began_ns < for_ns:
        pass
