"""The options of `run` and `Session` in one record."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields

from reactorlib.declaration.class_body import declarations_of
from reactorlib.declaration.reactor import Reactor, is_reactor_class
from reactorlib.elaboration.records import Elaborated
from reactorlib.errors import RunError
from reactorlib.tag import count_fault, time_fault

EXECUTORS = ("inline", "threads", "processes", "mpi", "auto")


@dataclass(frozen=True)
class Options:
    """See `run`."""

    timeout: int | None = None
    fast: bool = False
    keepalive: bool | None = None
    executor: str = "inline"
    workers: int | None = None
    placement: Mapping[str, int] | None = None
    start_method: str | None = None
    library_threads: int | None = None
    trace: bool = False

    def check(self, caller: str, program: type[Reactor] | Elaborated, parameters: Mapping[str, object]) -> None:
        """Raise RunError for an option of `caller` that cannot be, or that may be meant for the constructor instead."""
        if isinstance(program, Elaborated):
            if parameters:
                raise RunError(f"a Program has its parameters already, got {', '.join(parameters)}")
        elif is_reactor_class(program):
            self._check_names(caller, program)
        for name, fault_of in (("timeout", time_fault), ("workers", count_fault), ("library_threads", count_fault)):
            given = getattr(self, name)
            if given is not None and (fault := fault_of(given, name)):
                raise RunError(fault)
        if self.executor not in EXECUTORS:
            raise RunError(f"unknown executor {self.executor!r}: one of {', '.join(EXECUTORS)}")
        if self.executor in ("processes", "mpi") and sys.platform != "linux":
            raise RunError(f"executor {self.executor!r} needs Linux: 'inline' and 'threads' run here")

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
