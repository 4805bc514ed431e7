"""How a failure travels to another process, which may lack its class or be unable to rebuild its exception."""

from __future__ import annotations

import pickle
import traceback
from contextlib import suppress
from typing import NamedTuple

from reactorlib.elaboration.records import Node
from reactorlib.errors import StandIn, StandInError, WorkerError, kind_of, words_of
from reactorlib.executors.failure import Failure


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
