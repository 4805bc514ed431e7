"""How much shared memory the workers of a run have taken together: one number per worker, written by it alone."""

from __future__ import annotations


class Quota:
    """`taken` of all workers stands in shared memory; two workers that ask at once may overshoot by what they ask."""

    def __init__(self, counts: memoryview, capacity: int, worker: int) -> None:
        self._counts = counts  # of 8-byte numbers, one per worker
        self.capacity = capacity
        self.worker = worker

    def taken(self) -> int:
        """Bytes that all workers have taken."""
        return sum(self._counts)

    def take(self, nbytes: int) -> bool:
        """Take so many bytes more, or return False."""
        if self.taken() + nbytes > self.capacity:
            return False
        self._counts[self.worker] += nbytes
        return True

    def give(self, nbytes: int) -> None:
        """Give so many bytes back."""
        self._counts[self.worker] -= nbytes
