"""The names that bodies in a Lingua Franca file see: `lf`, times, tags and those of the file. Times are ints of ns."""

from __future__ import annotations

import ast
import copy
import os
import sys
import time as wall
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from operator import mul
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import reactorlib as kernel
from reactorlib import LogicalAction, PhysicalAction, Reactor, RunError, Tag, Time
from reactorlib.lf.bodies import statements
from reactorlib.lf.changed_names import is_only_read
from reactorlib.lf.syntax import Code
from reactorlib.tag import UNITS
from reactorlib.worker.cells import Multiport

HANDLE = "<run>"  # in a program's module, the run that was opened last


class LfTag(Tag):
    """A tag in the form of Lingua Franca, where its name is Tag."""

    __slots__ = ()
    __str__ = Tag.__repr__


LfTag.__name__ = Tag.__name__


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
        logical=lambda: int(kernel.logical_time()),
        logical_elapsed=lambda: int(kernel.logical_elapsed()),
        physical=_anywhere("physical_time", module, wall.time_ns),
        physical_elapsed=_anywhere("physical_elapsed", module),
        start=_anywhere("start_time", module),
    )
    stop = _anywhere("request_stop", module, int)
    lf = SimpleNamespace(
        time=time,
        tag=lambda: LfTag(time.logical(), kernel.current_tag().microstep),
        tag_start_effective=lambda: LfTag(time.start(), 0),
        tag_compare=lambda one, other: (one > other) - (one < other),
        schedule=lambda action, delay=0, value=None: action.schedule(delay, value),
        request_stop=stop,
        stop=stop,
        source_directory=lambda: str(path.parent),
        package_directory=lambda: str(package_of(path)),
        **_ON_SELF,
    )
    units = {name.upper(): partial(mul, int(unit)) for name, unit in UNITS.items() if len(name) > 2}
    vars(module).update(
        lf=lf, os=os, sys=sys, copy=copy, Tag=LfTag, Make=Make, request_stop=stop, instant_t=int,
        interval_t=int, BILLION=10**9, FOREVER=sys.maxsize, NEVER=-sys.maxsize - 1, **units, **{PORT_VIEW: view_of},
    )  # fmt: skip
    return module


def _anywhere(name: str, module: ModuleType, otherwise: Callable[[], int] | None = None) -> Callable[[], int]:
    """A function for reactions, and for threads of the program: these ask the run that was opened last."""

    def ask() -> int:
        for run in filter(None, (kernel, vars(module).get(HANDLE))):
            try:
                return int(getattr(run, name)() or 0)
            except RunError as error:  # no reaction asks, or the run has ended
                ended = error
        if otherwise is None:
            raise ended
        return otherwise()

    return ask


def package_of(path: Path) -> Path:
    """The directory of the package that a file belongs to: what contains its `src`."""
    return next((at.parent for at in path.parents if at.name == "src"), path.parent)


_ON_SELF: dict[str, Any] = {
    "check_deadline": lambda _reactor, invoke_handler=False: kernel.check_deadline(invoke_handler),
    "update_deadline": lambda _reactor, deadline: kernel.update_deadline(Time(round(deadline))),
    **dict.fromkeys(  # Lingua Franca answers 1 for an event that it knows; this library's own traces draw reactions
        ("register_user_trace_event", "tracepoint_user_event", "tracepoint_user_value"),
        lambda _reactor, _description, _value=0: 1,
    ),
    "__opened__": classmethod(lambda cls, handle: setattr(sys.modules[cls.__module__], HANDLE, handle)),
}
# `self` offers these in bodies, besides parameters, state, methods and the names of the class's preamble.
LinguaFrancaReactor: type[Reactor] = type("LinguaFrancaReactor", (Reactor,), {**_ON_SELF, "__module__": __name__})


class ActionInNs:
    """An action as a body schedules it, with plain numbers of nanoseconds. Does nothing after the end of the run."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @property
    def value(self) -> Any:
        return self._handle.value

    @property
    def is_present(self) -> bool:
        return bool(self._handle.is_present)

    def schedule(self, extra_delay: float = 0, value: Any = None) -> None:
        with suppress(RunError):
            self._handle.schedule(Time(round(extra_delay)), value)


class LfLogicalAction(LogicalAction[Any]):
    """A logical action that bodies schedule in nanoseconds."""

    def argument(self, handle: Any) -> ActionInNs:
        return ActionInNs(handle)


class LfPhysicalAction(PhysicalAction[Any]):
    """A physical action that bodies and threads schedule in nanoseconds."""

    def argument(self, handle: Any) -> ActionInNs:
        return ActionInNs(handle)


PORT_VIEW = "__port_view__"  # the name of `view_of` in a body


def viewed(inputs: Iterable[str], codes: Iterable[Code]) -> set[str]:
    """The inputs that one of these bodies may do more with than read them. Where there is a doubt, it may."""
    trees: list[ast.Module] = []
    for code in codes:
        with suppress(SyntaxError, ValueError, MemoryError, RecursionError):  # which are faults of their own
            trees.append(ast.Module(statements(code), []))
    return {name for name in inputs if not all(is_only_read(name, tree) for tree in trees)}


class PortView:
    """One channel of an input, for the reactions of one reactor at one tag. No other reactor sees their values."""

    def __init__(self, port: Any) -> None:
        self.value = port.value
        self.is_present = port.is_present
        self.physical_time_of_arrival = int(kernel.physical_time())

    def set(self, value: Any) -> None:
        """Overwrite the value; later reactions of the reactor read this one."""
        self.value, self.is_present = value, True

    @property
    def intended_tag(self) -> LfTag:
        """The current tag: nothing arrives late where one program runs all federates."""
        return LfTag(int(kernel.logical_time()), kernel.current_tag().microstep)


def view_of(reactor: Any, name: str, port: Any) -> Any:
    """The view of an input, the same one for all reactions of a reactor at a tag."""
    views, now = reactor.__dict__.setdefault(PORT_VIEW, {}), kernel.current_tag()
    if name not in views or views[name][0] != now:
        views[name] = now, Multiport(map(PortView, port)) if isinstance(port, Multiport) else PortView(port)
    return views[name][1]
