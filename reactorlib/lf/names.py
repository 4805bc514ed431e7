"""What bodies in a Lingua Franca file see besides their own: `lf`, times, tags. Times are plain integers of ns."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from reactorlib.declaration.reactor import Reactor
from reactorlib.tag import UNITS, Tag, Time
from reactorlib.worker.context import (
    check_deadline,
    current,
    current_tag,
    logical_elapsed,
    logical_time,
    physical_elapsed,
    physical_time,
    request_stop,
    start_time,
    update_deadline,
)
from reactorlib.worker.run_handle import RunHandle

HANDLE = "<run>"  # in a program's module, the run that was opened last
Names = dict[str, Any]


def new_module(name: str, path: Path) -> ModuleType:
    """The module in which a program's preambles and bodies run. It can be imported by its name, for pickles."""
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(path)
    del module.__spec__, module.__loader__  # a traceback reads the file itself
    time = SimpleNamespace(
        logical=lambda: int(logical_time()),
        logical_elapsed=lambda: int(logical_elapsed()),
        physical=lambda: int(physical_time()),
        physical_elapsed=lambda: int(physical_elapsed()),
        start=lambda: int(start_time()),
    )
    lf = SimpleNamespace(
        time=time,
        tag=lambda: Tag(time.logical(), current_tag().microstep),
        tag_compare=lambda one, other: (one > other) - (one < other),
        request_stop=request_stop,
        check_deadline=_check_deadline,
        update_deadline=_update_deadline,
        source_directory=lambda: str(path.parent),
        package_directory=lambda: str(package_of(path)),
    )
    units = {name.upper(): _unit(int(unit)) for name, unit in UNITS.items() if len(name) > 2}
    vars(module).update(
        lf=lf, sys=sys, copy=copy, Tag=Tag, request_stop=request_stop, instant_t=int, interval_t=int,
        BILLION=10**9, FOREVER=sys.maxsize, NEVER=-sys.maxsize - 1, **units,
    )  # fmt: skip
    for space, name, of_thread in (
        (time, "physical", lambda handle: int(handle.physical_time())),
        (time, "physical_elapsed", lambda handle: int(handle.physical_elapsed())),
        (time, "start", lambda handle: int(handle.start_time())),
        (lf, "request_stop", RunHandle.request_stop),
        (module, "request_stop", RunHandle.request_stop),
    ):
        setattr(space, name, _anywhere(getattr(space, name), of_thread, vars(module)))
    return module


def _anywhere(of_reaction: Callable[[], Any], of_thread: Callable[[RunHandle], Any], names: Names) -> Callable[[], Any]:
    """What answers in reactions, and in threads of the program for the run that was opened last."""

    def ask() -> Any:
        if current.worker is None and HANDLE in names:
            return of_thread(names[HANDLE])
        return of_reaction()

    return ask


def package_of(path: Path) -> Path:
    """The directory of the package that a file belongs to: what contains its `src`."""
    return next((at.parent for at in path.parents if at.name == "src"), path.parent)


def _unit(unit: int) -> Callable[[float], float]:
    return lambda count: count * unit


def _check_deadline(_reactor: object, invoke_handler: bool = False) -> bool:
    return check_deadline(invoke_handler)


def _update_deadline(_reactor: object, deadline: float) -> None:
    update_deadline(Time(round(deadline)))


class LinguaFrancaReactor(Reactor):
    """What `self` offers in bodies besides parameters, state, methods and what the class's preamble defines."""

    @classmethod
    def __opened__(cls, handle: RunHandle) -> None:
        """A worker opens a run of this program."""
        vars(sys.modules[cls.__module__])[HANDLE] = handle

    check_deadline = _check_deadline
    update_deadline = _update_deadline
