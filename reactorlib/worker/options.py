"""The options of `run` and `Session` in one record."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields

from reactorlib.errors import RunError
from reactorlib.tag import is_count, time_fault

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
        fault = None if self.timeout is None else time_fault(self.timeout, "timeout")
        if fault is not None:
            raise RunError(fault)
        if self.executor not in EXECUTORS:
            raise RunError(f"unknown executor {self.executor!r}: one of {', '.join(EXECUTORS)}")
        if self.executor in ("processes", "mpi") and sys.platform != "linux":
            raise RunError(f"executor {self.executor!r} needs Linux: 'inline' and 'threads' run here")
        for name in ("workers", "library_threads"):
            count = getattr(self, name)
            if count is not None and not is_count(count):
                raise RunError(f"{name} must be a positive integer, got {count!r}")
