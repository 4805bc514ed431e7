"""What bodies in a Lingua Franca file see besides their own: `lf`, times, tags. Times are plain integers of ns."""

from __future__ import annotations

import copy
import os
import re
import sys
import time as wall
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from operator import mul
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from reactorlib import tag
from reactorlib.declaration.reactor import Reactor
from reactorlib.errors import RunError
from reactorlib.tag import UNITS, Time
from reactorlib.worker import context
from reactorlib.worker.cells import Multiport, Reader
from reactorlib.worker.run_handle import RunHandle

HANDLE = "<run>"  # in a program's module, the run that was opened last


class Tag(tag.Tag):
    """A tag in the form of Lingua Franca."""

    __slots__ = ()
    __str__ = tag.Tag.__repr__


class Make:
    """An object whose attributes exist as soon as they are asked for, as in Lingua Franca's base package."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__dict__.setdefault(name, Make())


def new_module(name: str, path: Path) -> ModuleType:
    """The module in which a program's preambles and bodies run. It can be imported by its name, for pickles."""
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(path)
    del module.__spec__, module.__loader__  # a traceback reads the file itself
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
        request_stop=_request_stop,
        stop=_request_stop,
        source_directory=lambda: str(path.parent),
        package_directory=lambda: str(package_of(path)),
        **_ON_SELF,
    )
    units = {name.upper(): partial(mul, int(unit)) for name, unit in UNITS.items() if len(name) > 2}
    vars(module).update(
        lf=lf, os=os, sys=sys, copy=copy, Tag=Tag, Make=Make, request_stop=_request_stop, instant_t=int,
        interval_t=int, BILLION=10**9, FOREVER=sys.maxsize, NEVER=-sys.maxsize - 1, **units, **{PORT_VIEW: view_of},
    )  # fmt: skip
    for space, name, of_thread in (
        (time, "physical", lambda handle: int(handle.physical_time())),
        (time, "physical_elapsed", lambda handle: int(handle.physical_elapsed())),
        (time, "start", lambda handle: int(handle.start_time())),
        (lf, "request_stop", RunHandle.request_stop),
        (lf, "stop", RunHandle.request_stop),
        (module, "request_stop", RunHandle.request_stop),
    ):
        setattr(space, name, _anywhere(getattr(space, name), of_thread, vars(module)))
    return module


def _anywhere(
    of_reaction: Callable[[], Any], of_thread: Callable[[RunHandle], Any], names: dict[str, Any]
) -> Callable[[], Any]:
    """A function for reactions, and for threads of the program: there it asks the run that was opened last."""

    def ask() -> Any:
        if context.current.worker is None and HANDLE in names:
            with suppress(RunError):  # the run has ended
                return of_thread(names[HANDLE])
        return of_reaction()

    return ask


def package_of(path: Path) -> Path:
    """The directory of the package that a file belongs to: what contains its `src`."""
    return next((at.parent for at in path.parents if at.name == "src"), path.parent)


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


def _opened(cls: type, handle: RunHandle) -> None:
    """A worker opens a run of this program."""
    vars(sys.modules[cls.__module__])[HANDLE] = handle


# What `self` offers in bodies besides parameters, state, methods and what the class's preamble defines.
LinguaFrancaReactor: type[Reactor] = type(
    "LinguaFrancaReactor", (Reactor,), {**_ON_SELF, "__module__": __name__, "__opened__": classmethod(_opened)}
)

PORT_VIEW = "__port_view__"  # what a body calls `view_of`
_ASKED = r"(\[[^\]\n]*\])?\s*\.\s*(set\s*\(|value\s*([-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)|intended_tag|physical_time_of)"


def viewed(inputs: Iterable[str], texts: Iterable[str]) -> set[str]:
    """The inputs that one of these bodies treats as only a view can be."""
    code = "\n".join(texts)
    return {name for name in inputs if re.search(rf"(?<![\w.]){re.escape(name)}{_ASKED}", code)}


class PortView:
    """One channel of an input for the reactions of one reactor at one tag. What they set no other reactor sees."""

    def __init__(self, port: Reader) -> None:
        self.value = port.value
        self.is_present = port.is_present
        self.physical_time_of_arrival = int(context.physical_time())

    def set(self, value: Any) -> None:
        """Overwrite the value; later reactions of the reactor read this one."""
        self.value, self.is_present = value, True

    @property
    def intended_tag(self) -> Tag:
        """The current tag: nothing arrives late where one program runs all federates."""
        return Tag(int(context.logical_time()), context.current_tag().microstep)


def view_of(reactor: Any, name: str, port: Any) -> Any:
    """The view of an input, the same one for all reactions of a reactor at a tag."""
    views, now = reactor.__dict__.setdefault(PORT_VIEW, {}), context.current_tag()
    if name not in views or views[name][0] != now:
        views[name] = now, Multiport(map(PortView, port)) if isinstance(port, Multiport) else PortView(port)
    return views[name][1]
