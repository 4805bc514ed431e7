"""The options of `run` and `Session` in one record."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from reactorlib.declaration.class_body import declarations_of
from reactorlib.declaration.reactor import Reactor, is_reactor_class
from reactorlib.elaboration.records import Elaborated
from reactorlib.errors import RunError, closest, did_you_mean
from reactorlib.tag import count_fault, time_fault

ExecutorName = Literal["inline", "threads", "processes", "mpi", "auto"]
"""The names of executors, as `run` and `Session` take them."""
StartMethod = Literal["fork", "spawn", "forkserver"]
EXECUTORS: tuple[ExecutorName, ...] = get_args(ExecutorName)
START_METHODS: tuple[StartMethod, ...] = get_args(StartMethod)
OF_RUN = ("timeout", "fast", "keepalive")  # options that a Session does not have


@dataclass(frozen=True)
class Options:
    """See `run`."""

    timeout: int | None = None
    fast: bool = False
    keepalive: bool | None = None
    executor: ExecutorName = "inline"
    workers: int | None = None
    placement: Mapping[str, int] | None = None
    start_method: StartMethod | None = None
    library_threads: int | None = None
    trace: bool = False

    def check(self, caller: str, program: type[Reactor] | Elaborated, parameters: Mapping[str, object]) -> None:
        """Raise RunError for an option of `caller` that cannot be, or that may be meant for the constructor instead."""
        cls = program.cls if isinstance(program, Elaborated) else program
        if is_reactor_class(cls):
            _check_parameters(caller, cls, parameters)
        if isinstance(program, Elaborated):
            if parameters:
                raise RunError(f"a Program has its parameters already, got {', '.join(parameters)}")
        elif is_reactor_class(program):
            self._check_names(caller, program)
        self._check_values()
        if self.executor in ("processes", "mpi") and sys.platform != "linux":
            raise RunError(f"executor {self.executor!r} needs Linux: 'inline' and 'threads' run here")

    def _check_values(self) -> None:
        for name, fault_of in _KINDS.items():
            given = getattr(self, name)
            if given is not None and (fault := fault_of(given, name)):
                raise RunError(fault)
        for what, chosen, known in (
            ("executor", self.executor, EXECUTORS), ("start method", self.start_method, START_METHODS)
        ):  # fmt: skip
            if chosen not in (None, *known):
                raise RunError(f"unknown {what} {chosen!r}{did_you_mean(str(chosen), known)}")

    def _check_names(self, caller: str, cls: type[Reactor]) -> None:
        taken = declarations_of(cls).signature.parameters
        for field in fields(self):
            name = field.name
            if name in taken and getattr(self, name) != field.default:
                raise RunError(
                    f"{name}= is an option of {caller} and a parameter of {cls.__name__}: write "
                    f"{caller}(elaborate({cls.__name__}, {name}=...), ...) for the parameter, "
                    f"{caller}(elaborate({cls.__name__}, ...), {name}=...) for the option"
                )


def _check_parameters(caller: str, cls: type[Reactor], parameters: Mapping[str, object]) -> None:
    """Raise RunError for a parameter that the constructor does not have, and that may be meant for an option."""
    taken = declarations_of(cls).signature.parameters
    if any(one.kind is one.VAR_KEYWORD for one in taken.values()):
        return
    own = [field.name for field in fields(Options) if caller == "run" or field.name not in OF_RUN]
    for name in (one for one in parameters if one not in taken):
        if name in OF_RUN:
            raise RunError(f"{caller}() has no option {name}: it is one of run(), which runs a program to its end")
        meant = closest(name, [*own, *taken])
        if meant in own:
            raise RunError(
                f"{caller}() has no option {name}, and {cls.__name__} no such parameter: did you mean {meant}?"
            )


def _switch_fault(value: object, what: str) -> str | None:
    is_switch = not isinstance(value, str) and value in (True, False)
    return None if is_switch else f"{what} must be True or False, got {value!r}"


def _placement_fault(value: object, what: str) -> str | None:
    example = "a mapping from paths of reactors to workers, such as {'Main.a': 1}"
    return None if isinstance(value, Mapping) else f"{what} must be {example}, got {value!r}"


_KINDS: dict[str, Callable[[Any, str], str | None]] = {
    "timeout": time_fault, "workers": count_fault, "library_threads": count_fault, "placement": _placement_fault,
    "fast": _switch_fault, "keepalive": _switch_fault, "trace": _switch_fault,
}  # fmt: skip
