"""How a failure travels to another process, which may lack its class or be unable to rebuild its exception."""

from __future__ import annotations

import pickle
import traceback
from contextlib import suppress
from typing import Any

from reactorlib.errors import StandIn, StandInError, WorkerError, kind_of, words_of
from reactorlib.executors.failure import Failure
from reactorlib.executors.protocol import Failed

LONGEST_TEXT = 1000  # characters of an error for which there is no room


def told(failure: Failure) -> Failed:
    """A failure as it travels to another process."""
    error = failure.error
    # A WorkerError says all that there is to say.
    where = "" if isinstance(error, WorkerError) else "".join(traceback.format_exception(error))
    return Failed(*portable(error), where, failure.node)


def told_briefly(failure: Failure) -> Failed:
    """The same in few words."""
    short = WorkerError(words_of(failure.error)[:LONGEST_TEXT])
    return Failed(*portable(short), "", failure.node)


def failure_of(told: Failed) -> Failure:
    """The failure on the receiver's side. A note of its exception holds the traceback in the worker."""
    error = rebuilt(told.pickled, BaseException)
    if error is None:
        error = StandInError(told.kind, told.words)
    if told.where:
        error.add_note(f"in a worker process:\n{told.where}")
    return Failure(error, told.node)


def portable(error: BaseException) -> tuple[bytes, str, str]:
    """The pickle of an exception, empty if it cannot travel; class and words for a stand-in if it cannot be rebuilt.

    A BaseException that is no Exception must keep its class, as callers wait for that class. If it cannot travel, a
    double of the same class with the same text does.
    """
    kind, words = kind_of(error), words_of(error)
    with suppress(Exception):  # pickling runs the user's code
        pickled = pickle.dumps(error)
        again = rebuilt(pickled, type(error))
        if again is not None and words_of(again) == words:
            return pickled, kind, words
    if isinstance(error, Exception):
        return b"", kind, words
    for arguments in (error.args, (words,)):
        with suppress(Exception):
            return pickle.dumps(_Double(type(error), arguments)), kind, words
    return pickle.dumps(StandIn(kind, words)), kind, words


class _Double:
    """A pickle rebuilds this as an exception of a class with these arguments. The constructor does not run."""

    def __init__(self, cls: type[BaseException], arguments: tuple[Any, ...]) -> None:
        self._state = cls, arguments

    def __reduce__(self) -> Any:
        return _like, self._state


def _like(cls: type[BaseException], arguments: tuple[Any, ...]) -> BaseException:
    base: Any = next(base for base in cls.__mro__ if base.__module__ == "builtins")
    like: BaseException = base.__new__(cls, *arguments)
    base.__init__(like, *arguments)  # the code of a SystemExit
    return like


def rebuilt(pickled: bytes, kind: type[BaseException]) -> BaseException | None:
    """The exception of a pickle; None if it cannot be rebuilt in this process, or is of another kind."""
    with suppress(Exception):  # this also runs the user's code
        error = pickle.loads(pickled)
        if isinstance(error, kind):
            return error
    return None
