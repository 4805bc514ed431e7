"""How a tag is broken off on one worker, and how its failure travels to another process.

That process may lack the class of the exception, or be unable to rebuild it.
"""

from __future__ import annotations

import pickle
import traceback
from contextlib import suppress
from typing import NamedTuple

from reactorlib.elaboration.records import Node
from reactorlib.errors import StandIn, StandInError, WorkerError, kind_of, words_of


class Poisoned(BaseException):
    """Another worker failed at this tag. A step that needs it cannot run."""


class Stopped(BaseException):
    """The run is over: leave at once."""


class Failure(NamedTuple):
    """The first reaction that failed on one worker at the current tag, None where it failed outside one."""

    error: BaseException
    node: Node | None

    @property
    def skipped(self) -> Node | None:
        """The reaction whose reactor is not shut down; Ctrl-C and the like leave no reactor out."""
        return self.node if isinstance(self.error, Exception) else None


class PortableFailure(NamedTuple):
    """A Failure as it travels. `stand_in` is for an exception that cannot; `where` is its traceback."""

    pickled: bytes
    stand_in: StandIn
    where: str
    node: Node | None

    @staticmethod
    def of(failure: Failure) -> PortableFailure:
        error = failure.error
        # A WorkerError says all that there is to say.
        where = "" if isinstance(error, WorkerError) else "".join(traceback.format_exception(error))
        stand_in = (StandInError if isinstance(error, Exception) else StandIn)(kind_of(error), words_of(error))
        return PortableFailure(portable(error), stand_in, where, failure.node)

    def rebuilt(self) -> Failure:
        """The failure on the receiver's side. A note of its exception holds the traceback in the worker."""
        error = _rebuilt(self.pickled) or self.stand_in
        if self.where:
            error.add_note(f"in a worker process:\n{self.where}")
        return Failure(error, self.node)


def portable(error: BaseException) -> bytes:
    """The pickle of an exception that it rebuilds; empty if there is none."""
    with suppress(Exception):  # pickling runs the user's code
        pickled = pickle.dumps(error)
        again = _rebuilt(pickled)
        if type(again) is type(error) and words_of(again) == words_of(error):
            return pickled
    return b""


def _rebuilt(pickled: bytes) -> BaseException | None:
    """The exception of a pickle; None if it cannot be rebuilt in this process."""
    with suppress(Exception):  # this also runs the user's code
        error = pickle.loads(pickled)
        return error if isinstance(error, BaseException) else None
    return None
