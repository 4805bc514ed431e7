"""What a reaction may ask of the run it is part of: the tag, the time, to stop. Valid inside reactions only."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from reactorlib.errors import RunError
from reactorlib.tag import Tag, Time

if TYPE_CHECKING:
    from reactorlib.runtime import Run


class Context:
    """What belongs to the reaction that is running: `due`, its deadline as physical time in ns, or None."""

    __slots__ = ("due",)

    def __init__(self) -> None:
        self.due: int | None = None


class _Current(threading.local):
    run: Run | None = None


current = _Current()


def _running() -> Run:
    run = current.run
    if run is None:
        raise RunError("only a reaction of a running program can ask this")
    return run


def request_stop() -> None:
    """End the run: events of the next microstep still run, together with the shutdown reactions.

    >>> from reactorlib import MSEC, Reactor, Timer, reaction, request_stop, run, shutdown
    >>> class Once(Reactor):
    ...     tick = Timer(0, 1 * MSEC)
    ...     @reaction(tick)
    ...     def stop(self, tick):
    ...         request_stop()
    ...     @reaction(shutdown)
    ...     def end(self):
    ...         print("stopped at", current_tag())
    >>> result = run(Once, fast=True)
    stopped at (0 ns, 1)
    """
    _running().request_stop()


def current_tag() -> Tag:
    """The current tag; its time is in ns since the start of the run.

    >>> from reactorlib import Reactor, Timer, USEC, reaction, run
    >>> class Once(Reactor):
    ...     tick = Timer(5 * USEC)
    ...     @reaction(tick)
    ...     def show(self, tick):
    ...         print(current_tag())
    >>> result = run(Once, fast=True)
    (5 us, 0)
    """
    queue = _running().queue
    return Tag(queue.time, queue.microstep)


def logical_time() -> Time:
    """Logical time in ns since the epoch.

    >>> from reactorlib import Reactor, physical_time, reaction, run, startup
    >>> class Once(Reactor):
    ...     @reaction(startup)
    ...     def begin(self):
    ...         print(logical_time() <= physical_time())
    >>> result = run(Once)
    True
    """
    run = _running()
    return Time(run.started + run.queue.time)


def logical_elapsed() -> Time:
    """Logical time in ns since the start of the run.

    >>> from reactorlib import MSEC, Reactor, Timer, reaction, run
    >>> class Once(Reactor):
    ...     tick = Timer(3 * MSEC)
    ...     @reaction(tick)
    ...     def show(self, tick):
    ...         print(logical_elapsed())
    >>> result = run(Once, fast=True)
    3000000
    """
    return Time(_running().queue.time)


def physical_time() -> Time:
    """Physical time in ns since the epoch; it never runs backwards during a run.

    >>> from reactorlib import Reactor, reaction, run, startup
    >>> class Once(Reactor):
    ...     @reaction(startup)
    ...     def begin(self):
    ...         print(physical_time() > 0)
    >>> result = run(Once)
    True
    """
    return Time(_running().clock.now())


def physical_elapsed() -> Time:
    """Physical time in ns since the start of the run.

    >>> from reactorlib import Reactor, reaction, run, startup
    >>> class Once(Reactor):
    ...     @reaction(startup)
    ...     def begin(self):
    ...         print(physical_elapsed() >= 0)
    >>> result = run(Once)
    True
    """
    run = _running()
    return Time(run.clock.now() - run.started)


def check_deadline() -> bool:
    """Whether the deadline of the running reaction has passed by now; False in a reaction without one.

    >>> from reactorlib import Reactor, SEC, reaction, run, startup
    >>> class Careful(Reactor):
    ...     @reaction(startup, deadline=100 * SEC)
    ...     def begin(self):
    ...         print(check_deadline())
    >>> result = run(Careful)
    False
    """
    run = _running()
    due = run.context.due
    return due is not None and run.clock.now() > due
