"""How a tag is broken off on one worker: it failed, another did, or the run is over."""

from __future__ import annotations

from typing import NamedTuple

from reactorlib.elaboration.records import Node


class Poisoned(BaseException):
    """Another worker failed at this tag. A step that needs it cannot run."""


class Stopped(BaseException):
    """The run is over: leave at once."""


class OutOfTime(BaseException):
    """A wait has taken as long as its caller allows. The caller may wait again."""


class Failure(NamedTuple):
    """The first reaction that failed on one worker at the current tag, None where it failed outside one."""

    error: BaseException
    node: Node | None

    @property
    def skipped(self) -> Node | None:
        """The reaction whose reactor is not shut down; Ctrl-C and the like leave no reactor out."""
        return self.node if isinstance(self.error, Exception) else None
