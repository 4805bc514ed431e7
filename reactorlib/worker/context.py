"""What a reaction may ask of the run it is part of: the tag, the time, to stop. Valid inside reactions only."""

from __future__ import annotations

import threading

from reactorlib.errors import RunError
from reactorlib.tag import Tag, Time
from reactorlib.worker.worker import Worker


class _Current(threading.local):
    worker: Worker | None = None


current = _Current()


def _running() -> Worker:
    worker = current.worker
    if worker is None:
        raise RunError("only a reaction of a running program can ask this")
    return worker


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
    now = _running().now
    return Tag(now.time, now.microstep)


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
    worker = _running()
    return Time(worker.started + worker.now.time)


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
    return Time(_running().now.time)


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
    worker = _running()
    return Time(worker.clock.now() - worker.started)


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
    worker = _running()
    return worker.due is not None and worker.clock.now() > worker.due
