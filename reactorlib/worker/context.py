"""Functions for reactions only: the tag, the time, to stop, deadlines. Threads use a RunHandle."""

from __future__ import annotations

import threading

from reactorlib.errors import RunError
from reactorlib.tag import Tag, Time, time_fault
from reactorlib.worker.inbox import RunHandle, RunInterface
from reactorlib.worker.worker import Worker


class _Current(threading.local):
    worker: Worker | None = None


current = _Current()


def is_inside(run: RunInterface) -> bool:
    """Return whether a reaction of this run makes the call, be it through programs that reactions drive."""
    interface = None if current.worker is None else current.worker.interface
    while interface is not None and interface is not run:
        interface = interface.driver
    return interface is run


def _running() -> Worker:
    if current.worker is None:
        raise RunError("only a reaction of a running program can ask this; a thread is given its run_handle()")
    return current.worker


def run_handle() -> RunHandle:
    """The run of the calling reaction, for a thread that it starts: to stop, physical time, and what the thread raises.

    >>> from reactorlib import Reactor, reaction, run, startup
    >>> class Once(Reactor):
    ...     @reaction(startup)
    ...     def begin(self): print(run_handle().physical_elapsed() >= 0)
    >>> result = run(Once)
    True
    """
    return RunHandle(_running().interface)


def request_stop() -> None:
    """End the run: events of the next microstep still run, together with the shutdown reactions.

    >>> from reactorlib import MSEC, Reactor, Timer, reaction, run
    >>> class Once(Reactor):
    ...     tick = Timer(0, 1 * MSEC)
    ...     @reaction(tick)
    ...     def stop(self, tick):
    ...         request_stop()
    >>> run(Once, fast=True).tag
    Tag(time=0, microstep=1)
    """
    worker = _running()
    worker.interface.check_process("request_stop()")
    worker.scheduler.stop()


def current_tag() -> Tag:
    """The current tag; its time is in ns since the start of the run.

    >>> from reactorlib import Reactor, reaction, run, startup
    >>> class Once(Reactor):
    ...     @reaction(startup)
    ...     def begin(self): print(current_tag())
    >>> result = run(Once)
    (0 ns, 0)
    """
    now = _running().now
    return Tag(now.time, now.microstep)


def logical_time() -> Time:
    """Logical time in ns since the epoch.

    >>> from reactorlib import Reactor, logical_elapsed, physical_time, reaction, run, start_time, startup
    >>> class Once(Reactor):
    ...     @reaction(startup)
    ...     def begin(self):
    ...         print(logical_elapsed(), logical_time() == start_time())
    ...         print(physical_time() >= logical_time(), physical_elapsed() >= 0)
    >>> result = run(Once)
    0 True
    True True
    """
    worker = _running()
    return Time(worker.interface.started + worker.now.time)


def logical_elapsed() -> Time:
    """Logical time in ns since the start of the run."""
    return Time(_running().now.time)


def physical_time() -> Time:
    """Physical time in ns since the epoch; it never runs backwards during a run."""
    return Time(_running().interface.clock.now())


def physical_elapsed() -> Time:
    """Physical time in ns since the start of the run."""
    interface = _running().interface
    return Time(interface.clock.now() - interface.started)


def start_time() -> Time:
    """Physical time, in ns since the epoch, at which the run started: logical time began there."""
    return Time(_running().interface.started)


def check_deadline(invoke_handler: bool = False) -> bool:
    """Whether the deadline of the running reaction has passed. False in a reaction without one.

    A deadline of 0 has always passed. With `invoke_handler` the handler runs before this returns True, once a tag. It
    replaces the rest of the body, which should return.

    >>> from reactorlib import Reactor, SEC, reaction, run, startup
    >>> class Careful(Reactor):
    ...     @reaction(startup, deadline=100 * SEC)
    ...     def begin(self): print(check_deadline())
    >>> result = run(Careful)
    False
    """
    deadline = _running().deadline
    if deadline is None or not deadline.has_passed():
        return False
    if invoke_handler:
        deadline.late()
    return True


def update_deadline(deadline: int) -> None:
    """Change the deadline of the running reaction, in ns, until the end of the run.

    Reactions keep the order of the declared deadlines. Raises RunError in a reaction without a deadline.

    >>> from reactorlib import HOUR, Reactor, reaction, run, startup
    >>> class Hasty(Reactor):
    ...     @reaction(startup, deadline=1 * HOUR)
    ...     def begin(self):
    ...         update_deadline(0)
    ...         print(check_deadline())
    >>> result = run(Hasty)
    True
    """
    declared = _running().deadline
    fault = "the running reaction has no deadline" if declared is None else time_fault(deadline, "deadline")
    if declared is None or fault is not None:
        raise RunError(f"update_deadline(): {fault}")
    declared.update(int(deadline))
