"""What bodies in a Lingua Franca file see besides their own: `lf`, times, tags. Times are plain integers of ns."""

from __future__ import annotations

import copy
import os
import sys
import time as wall
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from reactorlib import tag
from reactorlib.declaration.reactor import Reactor
from reactorlib.errors import RunError
from reactorlib.lf.port_views import PORT_VIEW, view_of
from reactorlib.tag import UNITS, Time
from reactorlib.worker import context


class Tag(tag.Tag):
    """A tag in the form of Lingua Franca.

    >>> print(Tag(5, 1))
    Tag(time=5, microstep=1)
    """

    __slots__ = ()
    __str__ = tag.Tag.__repr__


class Make:
    """An object whose attributes exist as soon as they are asked for, as in Lingua Franca's base package.

    >>> made = Make()
    >>> made.inner.x = 3
    >>> made.inner.x
    3
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__dict__.setdefault(name, Make())


def new_module(name: str, path: Path) -> ModuleType:
    """The module in which a program's preambles and bodies run. It can be imported by its name, for pickles."""
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(path)
    time = SimpleNamespace(
        logical=lambda: int(context.logical_time()),
        logical_elapsed=lambda: int(context.logical_elapsed()),
        physical=_physical,
        physical_elapsed=lambda: int(context.physical_elapsed()),
        start=lambda: int(context.start_time()),
    )
    lf = SimpleNamespace(
        time=time,
        tag=lambda: Tag(time.logical(), context.current_tag().microstep),
        tag_start_effective=lambda: Tag(time.start(), 0),
        tag_compare=lambda one, other: (one > other) - (one < other),
        schedule=lambda action, delay=0, value=None: action.schedule(delay, value),
        schedule_copy=lambda action, delay=0, value=None, _length=1: action.schedule(delay, value),
        request_stop=_request_stop,
        stop=_request_stop,
        source_directory=lambda: str(path.parent),
        package_directory=lambda: str(package_of(path)),
        **_ON_SELF,
    )
    units = {name.upper(): _unit(int(unit)) for name, unit in UNITS.items() if len(name) > 2}
    vars(module).update(
        lf=lf, os=os, sys=sys, copy=copy, Tag=Tag, Make=Make, request_stop=_request_stop, instant_t=int,
        interval_t=int, BILLION=10**9, FOREVER=sys.maxsize, NEVER=-sys.maxsize - 1, **units, **{PORT_VIEW: view_of},
    )  # fmt: skip
    return module


def package_of(path: Path) -> Path:
    """The directory of the package that a file belongs to: what contains its `src`."""
    return next((at.parent for at in path.parents if at.name == "src"), path.parent)


def _unit(unit: int) -> Callable[[float], float]:
    return lambda count: count * unit


def _physical() -> int:
    try:
        return int(context.physical_time())
    except RunError:  # a thread of the program's own, or after the end
        return wall.time_ns()


def _request_stop() -> None:
    with suppress(RunError):  # nothing is left to stop
        context.request_stop()


def _check_deadline(_reactor: object, invoke_handler: bool = False) -> bool:
    return context.check_deadline(invoke_handler)


def _update_deadline(_reactor: object, deadline: float) -> None:
    context.update_deadline(Time(round(deadline)))


def _trace_event(_reactor: object, _description: str, _value: int = 0) -> int:
    return 1  # Lingua Franca's answer for an event that is known; `trace` of this library draws reactions


_ON_SELF: dict[str, Callable[..., Any]] = {
    "check_deadline": _check_deadline,
    "update_deadline": _update_deadline,
    "register_user_trace_event": _trace_event,
    "tracepoint_user_event": _trace_event,
    "tracepoint_user_value": _trace_event,
}
# What `self` offers in bodies besides parameters, state, methods and what the class's preamble defines.
LinguaFrancaReactor: type[Reactor] = type("LinguaFrancaReactor", (Reactor,), {**_ON_SELF, "__module__": __name__})
