"""The options of `run` and `Session` in one record."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields

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

    def given(self) -> list[str]:
        """The names of the options that are not the defaults."""
        return [field.name for field in fields(self) if getattr(self, field.name) != field.default]

    def check(self) -> None:
        """Raise RunError for an option that cannot be."""
        for name, fault_of in (("timeout", time_fault), ("workers", count_fault), ("library_threads", count_fault)):
            given = getattr(self, name)
            fault = None if given is None else fault_of(given, name)
            if fault is not None:
                raise RunError(fault)
        if self.executor not in EXECUTORS:
            raise RunError(f"unknown executor {self.executor!r}: one of {', '.join(EXECUTORS)}")
        if self.executor in ("processes", "mpi") and sys.platform != "linux":
            raise RunError(f"executor {self.executor!r} needs Linux: 'inline' and 'threads' run here")
