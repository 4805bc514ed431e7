"""A run as threads beside its workers reach it: the handle that a reaction gives them, and the inbox of their calls."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from math import inf
from time import monotonic, sleep
from typing import Any, ParamSpec, TypeVar

from reactorlib.errors import RunError, ThreadError
from reactorlib.tag import Time
from reactorlib.worker.cells import Event
from reactorlib.worker.clock import PhysicalClock
from reactorlib.worker.notice import notice

P = ParamSpec("P")
T = TypeVar("T")

# An event, when it was scheduled and for when (ns since the start of the run), and its value.
Arrival = tuple[Event | None, int, int, Any]
LOOK: Arrival = (None, -1, -1, None)  # only check `stopping` and `failure`
LAST: Arrival = (None, -1, -1, "last")  # stop once no physical action is pending that came before this

# While more than CROWD physical actions wait, a thread that schedules one waits as well, and looks every PAUSE_S.
CROWD = 1000
PAUSE_S = 0.001
LONG_S = 10.0  # a thread that waits for longer is reported


class RunInterface:
    """A run as any thread may use it. A subclass passes calls on to the tag loop."""

    def __init__(self, clock: PhysicalClock) -> None:
        self.clock = clock
        self.started = 0  # physical time, until the run begins
        self.over = False
        self.process = os.getpid()  # a process that a reaction forks is not the run's
        self.driver: RunInterface | None = None  # the run one of whose reactions drives this one

    def adopt(self) -> None:
        """Threads are about to be given the run, and may then call `stop` and `fail`."""

    def stop(self, after_pending: bool) -> None:
        """Stop the run after the tag that it is at when it takes this, or after the physical actions before this."""
        raise NotImplementedError

    def fail(self, thread: str, error: BaseException) -> None:
        """Fail the run with the first such error of a thread."""
        raise NotImplementedError

    def schedule(self, event: Event, extra_delay: int, value: Any) -> None:
        """Schedule a physical action. Its reactor is on worker 0."""
        raise NotImplementedError

    def check_process(self, call: str) -> None:
        """Raise RunError in a process that was forked from the run's: its copy of the run does nothing."""
        if os.getpid() != self.process:
            raise RunError(
                f"{call}: this is a process that was forked from process {self.process} of the run. Send the value "
                "there by a pipe or queue, and let a thread of that process make the call"
            )


class Inbox(RunInterface):
    """The inbox of one run, in the process of its tag loop. Any thread may write, only the loop takes."""

    def __init__(self, clock: PhysicalClock) -> None:
        super().__init__(clock)
        self.arrivals: deque[Arrival] = deque()
        self.reacting: set[int] = set()  # threads that run reactions: these never wait for room
        self.ending = False  # the last reactions run or are about to: no thread waits for room
        self.stopping = False  # somebody asked for it
        self.failure: ThreadError | None = None

    def schedule(self, event: Event, extra_delay: int, value: Any) -> None:
        if self.over or os.getpid() != self.process:
            self.check_process(f"{event.path}.schedule()")
            raise RunError(f"{event.path}.schedule(): the run has ended")
        now = self.clock.now() - self.started
        self.arrivals.append((event, now, now + event.trigger.delay + extra_delay, value))
        self.clock.wake()
        if len(self.arrivals) > CROWD and threading.get_ident() not in self.reacting:
            self._await_room(event)

    def _await_room(self, event: Event) -> None:
        """Wait until the loop has taken enough arrivals, or ends. The loop does nothing for it, so it looks."""
        late = monotonic() + LONG_S
        while len(self.arrivals) > CROWD:
            sleep(PAUSE_S)
            if self.ending or self.over:
                return
            if monotonic() > late:
                late = inf
                notice(
                    f"{event.path}.schedule() has waited for {LONG_S:.0f} s in thread "
                    f"{threading.current_thread().name!r}, as {CROWD} physical actions are pending. Reactions are too "
                    "slow for them, or wait for this thread"
                )

    def stop(self, after_pending: bool) -> None:
        self.stopping |= not after_pending
        self.arrivals.append(LAST if after_pending else LOOK)
        self.clock.wake()

    def fail(self, thread: str, error: BaseException) -> None:
        if not self.over and os.getpid() == self.process:
            self.failure = self.failure or ThreadError(thread, error)
            self.arrivals.append(LOOK)
            self.clock.wake()

    def close(self) -> None:
        self.over = True
        self.arrivals.clear()


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

    def __init__(self, interface: RunInterface) -> None:
        interface.adopt()
        self._interface = interface

    def request_stop(self, after_pending: bool = False) -> None:
        """End the run after the tag that it is at when it learns of this. Events that are pending then never run.

        With `after_pending`, it ends after the physical actions that were scheduled before this call. So no reaction
        misses what the calling thread has scheduled, unless its mode is not active.
        """
        interface = self._alive()
        interface.check_process("request_stop()")
        interface.stop(after_pending)

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
            self._interface.fail(threading.current_thread().name, error)
            raise

    def _alive(self) -> RunInterface:
        if self._interface.over:
            raise RunError("the run that this thread belongs to has ended")
        return self._interface
