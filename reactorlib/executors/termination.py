"""When a worker that is a process leaves a run, and what SIGTERM means to it until then. A base class."""

from __future__ import annotations

import os
import signal
import threading
from abc import ABC, abstractmethod

from reactorlib.executors.failure import Stopped

SIGTERM_GRACE_S = 0.3  # for worker 0 to say that the whole run was told to end, not this process alone


class Life(ABC):
    """The way to the end of one worker."""

    def __init__(self) -> None:
        self.stopped = False  # all that is left to do is to leave
        # SIGTERM to the whole group, as worker 0 does by a handler of its own; None: if it has one by then.
        self.survives: bool | None = False
        self._alone = False  # SIGTERM was for this process only

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """Whether worker 0 told all workers to leave at once, or cannot be heard any more."""

    def is_handled_by_worker_0(self, number: int) -> bool:
        """Whether worker 0 has a handler for this signal now."""
        return False

    @abstractmethod
    def leave(self) -> None:
        """Only shutdown reactions are left: nobody breaks them off."""

    def check(self) -> None:
        """Called at least every 50 ms while this worker waits: whether the run goes on."""
        if self.is_over:
            self.stopped = True
            raise Stopped

    def terminate(self, number: int, _frame: object) -> None:
        """Worker 0 breaks off a reaction like this. Any other SIGTERM means the whole group, or this process alone."""
        if self.stopped:
            return
        Life.check(self)
        if self.survives or (self.survives is None and self.is_handled_by_worker_0(number)):
            return
        if self._alone:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        timer = threading.Timer(SIGTERM_GRACE_S, self._give_in)
        timer.daemon = True
        timer.start()

    def _give_in(self) -> None:
        self._alone = True
        os.kill(os.getpid(), signal.SIGTERM)


def leave_to_worker_0(_number: int, _frame: object) -> None:
    """A handler of signals: worker 0 decides what Ctrl-C means."""
