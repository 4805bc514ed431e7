"""The actor of the tests: in a file of its own, as processes of all systems have to import it."""

import os
import time
from pathlib import Path


class EchoError(ValueError):
    """What an actor raises."""


class Echo:
    """Returns what it is given, and counts."""

    def __init__(self, index=0, refuses=False):
        if refuses:
            raise EchoError("not to be made")
        self.index = index
        self.total = 0

    def tell(self, value):
        """Which actor this is, and the value."""
        return self.index, value

    def echo(self, *values):
        """The value, or all of several."""
        return values[0] if len(values) == 1 else values

    def begin(self):
        """Forget the numbers that were added."""
        self.total = 0

    def add(self, value):
        """Add to a total; the total, and the numbers so far."""
        self.total = 3 * self.total % 1_000_003 + value
        return self.total

    def doubled(self, array):
        """Another array of the size."""
        return 2 * array

    def fail(self, index):
        """Raise, if this is that actor."""
        if self.index == index:
            raise EchoError(f"actor {index} can't")
        return self.index

    def die(self, index):
        """End the process of an actor, without a word."""
        if self.index == index:
            os._exit(3)
        return self.index

    def wait_for(self, path):
        """Return when there is a file."""
        give_up = time.monotonic() + 30
        while not Path(path).exists():
            assert time.monotonic() < give_up
            time.sleep(0.001)
        return self.index

    def leave_a_child(self, path):
        """Leave a process that ends when there is a file."""
        if os.fork() == 0:
            os.setsid()
            self.wait_for(path)
            os._exit(0)
