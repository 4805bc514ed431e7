"""How a tag is broken off on one worker, and how its failure travels to another process.

That process may lack the class of the exception, or be unable to rebuild it.
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import NamedTuple

from reactorlib.elaboration.records import Elaborated, Node
from reactorlib.errors import ReactionError, StandIn, StandInError, WorkerError, kind_of, words_of
from reactorlib.tag import Tag
from reactorlib.worker.event_queue import CurrentTag


class Poisoned(BaseException):
    """Another worker failed at this tag. A call that needs it cannot run."""


class Stopped(BaseException):
    """The run is over: leave at once."""


class Failure(NamedTuple):
    """The first failure of a worker at the current tag. `node` is the reaction, None if none was running."""

    error: BaseException
    node: Node | None

    @property
    def skipped(self) -> Node | None:
        """The reaction whose reactor is not shut down; Ctrl-C and the like leave no reactor out."""
        return self.node if isinstance(self.error, Exception) else None

    def described(self, program: Elaborated, now: CurrentTag) -> str:
        """The failure at this tag in words."""
        if self.node is None or not isinstance(self.error, Exception):
            return f"{kind_of(self.error)}: {words_of(self.error)}"
        return str(reaction_error(program, self.node, now, self.error))


def reaction_error(program: Elaborated, node: Node, now: CurrentTag, error: Exception) -> ReactionError:
    """The error that names the reaction of this node, or the mutable input whose value could not be copied."""
    record = program.graph.reaction(node) or program.graph.forward(node)
    reactor, _, name = record.path.rpartition(".")
    return ReactionError(reactor, name, Tag(now.time, now.microstep), error)


class PortableFailure(NamedTuple):
    """A Failure as it travels. `stand_in` is for an exception that cannot; `where` is its traceback."""

    pickled: bytes
    stand_in: StandIn
    where: str
    node: Node | None

    @staticmethod
    def of(failure: Failure) -> PortableFailure:
        import traceback  # only where something failed: a program starts without it

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
    """The exception of a pickle. None if it cannot be rebuilt in this process."""
    with suppress(Exception):  # this also runs the user's code
        error = pickle.loads(pickled)
        return error if isinstance(error, BaseException) else None
    return None
