"""How a failure travels to another process, which may lack its class or be unable to rebuild its exception."""

from __future__ import annotations

import pickle
import traceback
from contextlib import suppress
from typing import NamedTuple

from reactorlib.elaboration.records import Node
from reactorlib.errors import StandIn, StandInError, WorkerError, kind_of, words_of
from reactorlib.executors.failure import Failure

LONGEST_TEXT = 1000  # characters of an error for which there is no room


class PortableFailure(NamedTuple):
    """A Failure as it travels. `pickled` is empty if the exception cannot; `where` is its traceback."""

    pickled: bytes
    kind: str
    words: str
    where: str
    node: Node | None

    @staticmethod
    def of(failure: Failure) -> PortableFailure:
        error = failure.error
        # A WorkerError says all that there is to say.
        where = "" if isinstance(error, WorkerError) else "".join(traceback.format_exception(error))
        return PortableFailure(portable(error), kind_of(error), words_of(error), where, failure.node)

    @staticmethod
    def in_brief(failure: Failure) -> PortableFailure:
        """The same in few words."""
        return PortableFailure.of(Failure(WorkerError(words_of(failure.error)[:LONGEST_TEXT]), failure.node))

    def rebuilt(self) -> Failure:
        """The failure on the receiver's side. A note of its exception holds the traceback in the worker."""
        error = _rebuilt(self.pickled)
        if error is None:
            error = StandInError(self.kind, self.words)
        if self.where:
            error.add_note(f"in a worker process:\n{self.where}")
        return Failure(error, self.node)


def portable(error: BaseException) -> bytes:
    """The pickle of an exception that it rebuilds; else of a stand-in, or empty for an Exception."""
    with suppress(Exception):  # pickling runs the user's code
        pickled = pickle.dumps(error)
        again = _rebuilt(pickled)
        if type(again) is type(error) and words_of(again) == words_of(error):
            return pickled
    return b"" if isinstance(error, Exception) else pickle.dumps(StandIn(kind_of(error), words_of(error)))


def _rebuilt(pickled: bytes) -> BaseException | None:
    """The exception of a pickle; None if it cannot be rebuilt in this process."""
    with suppress(Exception):  # this also runs the user's code
        error = pickle.loads(pickled)
        return error if isinstance(error, BaseException) else None
    return None
