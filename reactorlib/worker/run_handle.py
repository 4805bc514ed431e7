"""The handle of a run, which a reaction gives to the threads that it starts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from reactorlib.errors import RunError
from reactorlib.tag import Time
from reactorlib.worker.inbox import Outside

P = ParamSpec("P")
T = TypeVar("T")


class RunHandle:
    """The run of a reaction, for threads that it starts: see `run_handle`. After the run all but `call` raise RunError.

    Physical actions are scheduled by their own `schedule`: the reaction hands them over as well.

    >>> import threading
    >>> from reactorlib import Reactor, reaction, run, run_handle, startup
    >>> class Feeder(Reactor):
    ...     @reaction(startup)
    ...     def begin(self):
    ...         handle = run_handle()
    ...         threading.Thread(target=handle.call, args=(self.feed, handle), daemon=True).start()
    ...     def feed(self, handle):
    ...         handle.request_stop()
    >>> run(Feeder, keepalive=True).tag.microstep
    1
    """

    def __init__(self, outside: Outside) -> None:
        self._outside = outside

    def request_stop(self) -> None:
        """End the run after the tag that it is at when it learns of this."""
        self._alive().stop()

    def physical_time(self) -> Time:
        """Physical time in ns since the epoch."""
        return Time(self._alive().clock.now())

    def physical_elapsed(self) -> Time:
        """Physical time in ns since the start of the run."""
        return self.physical_time() - self.start_time()

    def start_time(self) -> Time:
        """Physical time in ns since the epoch at which the run started."""
        return Time(self._alive().started)

    def call(self, function: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T:
        """Call a function. Its exception ends the run with a ThreadError, unless it is SystemExit."""
        try:
            return function(*arguments, **named)
        except SystemExit:
            raise
        except BaseException as error:
            self._outside.fail(threading.current_thread().name, error)
            raise

    def _alive(self) -> Outside:
        if self._outside.over:
            raise RunError("the run that this thread belongs to has ended")
        return self._outside
