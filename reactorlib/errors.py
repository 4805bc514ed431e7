"""Errors of the user's program and of the run. A bug of this library is never one of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reactorlib.tag import Tag

MOST_NAMES = 12  # listed in a message


class StandIn(BaseException):
    """In the place of an exception that cannot travel between processes: `kind` is its class, `words` its text."""

    def __init__(self, kind: str, words: str) -> None:
        self.kind, self.words = kind, words
        super().__init__(kind, words)

    def __str__(self) -> str:
        return f"{self.kind}: {self.words}"


class StandInError(StandIn, RuntimeError):
    """For an Exception. The others, which `except Exception` lets pass, have a plain StandIn."""


def kind_of(error: BaseException) -> str:
    """The name of an exception's class, or of the class that a StandIn stands for."""
    return error.kind if isinstance(error, StandIn) else type(error).__name__


def words_of(error: BaseException) -> str:
    """The text of an exception. Its class may be the user's, so `str` may fail."""
    if isinstance(error, StandIn):
        return error.words
    try:
        return str(error)
    except Exception:  # noqa: BLE001  # the error that is reported matters more
        return "its str() failed"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` most likely misspells, or None."""
    import difflib  # only where something is wrong: a program starts without it

    return next(iter(difflib.get_close_matches(name, list(known), n=1)), None)


def meant(option: str, known: Iterable[str]) -> str:
    """The end of a message about an option that a command does not have, such as `: did you mean --workers?`."""
    close = closest(option.partition("=")[0], known)
    return f": did you mean {close}?" if close else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name, such as `: did you mean 'inp'? There is inp, out`."""
    names = list(dict.fromkeys(known))
    listed = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
    close = closest(name, names)
    if close is None:
        return f": there is {listed}" if names else ""
    return f": did you mean {close!r}?" + (f" There is {listed}" if len(names) > 1 else "")


def type_name(value: object) -> str:
    """The full name of a value's type, as an error message gives it."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class ReactorError(Exception):
    """The base of every error that reactorlib raises on purpose.

    >>> issubclass(ElaborationError, ReactorError)
    True
    """


class ElaborationError(ReactorError):
    """Every static fault of a program, found in one pass before the run starts.

    `faults` holds a text for each, with the full paths of the elements involved.

    >>> print(ElaborationError(["Main.b: no such port", *(f"Main.c[{i}].a: no such port" for i in range(40))]))
    41 faults in the program:
      1. Main.b: no such port
      2. Main.c[0].a: no such port (and 39 more that differ from it in an index)
    """

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        lines = [f"{len(self.faults)} faults in the program:"]
        lines += [f"  {number}. {fault}" for number, fault in enumerate(_distinct(self.faults), 1)]
        super().__init__(self.faults[0] if len(self.faults) == 1 else "\n".join(lines))

    def __reduce__(self) -> tuple[type[ElaborationError], tuple[tuple[str, ...]]]:
        return type(self), (self.faults,)


def _distinct(faults: Iterable[str]) -> Iterator[str]:
    """The faults. Of those that differ in an index only the first, and the number of the others."""
    import re  # only where something is wrong

    alike: dict[str, list[str]] = {}
    for fault in faults:
        alike.setdefault(re.sub(r"\[\d+\]", "[]", fault), []).append(fault)
    for first, *more in alike.values():
        yield f"{first} (and {len(more)} more that differ from it in an index)" if more else first


class ReactionError(ReactorError):
    """A reaction raised. The original exception is the `__cause__`.

    `reactor` is the path of the reactor, `reaction` the name of the reaction, or of a mutable input whose value could
    not be copied. On `processes`, a RuntimeError with class and text stands for an exception that cannot be pickled.

    >>> print(ReactionError("Main.hub", "collect", Tag(0, 3), ValueError("no reply")))
    Main.hub.collect raised ValueError at tag (0 ns, 3): no reply
    """

    def __init__(self, reactor: str, reaction: str, tag: Tag, cause: BaseException) -> None:
        self.reactor, self.reaction, self.tag = reactor, reaction, tag
        super().__init__(f"{reactor}.{reaction} raised {kind_of(cause)} at tag {tag}: {words_of(cause)}")
        self.__cause__ = cause

    def __reduce__(self) -> tuple[type[ReactionError], tuple[str, str, Tag, BaseException | None]]:
        return type(self), (self.reactor, self.reaction, self.tag, self.__cause__)


class ThreadError(ReactorError):
    """A function raised that `thread` called by `RunHandle.call`. The original exception is the `__cause__`.

    >>> print(ThreadError("feeder", ValueError("no reply")))
    thread 'feeder', which a reaction started, raised ValueError: no reply
    """

    def __init__(self, thread: str, cause: BaseException) -> None:
        self.thread = thread
        super().__init__(f"thread {thread!r}, which a reaction started, raised {kind_of(cause)}: {words_of(cause)}")
        self.__cause__ = cause

    def __reduce__(self) -> tuple[type[ThreadError], tuple[str, BaseException | None]]:
        return type(self), (self.thread, self.__cause__)


class EffectError(ReactorError):
    """A reaction set a port or scheduled an action that it did not declare as an effect.

    >>> print(EffectError("Main.out", "set()"))
    Main.out.set() by a reaction that does not list it in effects=, or on self instead of the reaction's argument
    """

    def __init__(self, element: str, call: str) -> None:
        super().__init__(element, call)
        self.element, self.call = element, call

    def __str__(self) -> str:
        where = "on self instead of the reaction's argument"
        return f"{self.element}.{self.call} by a reaction that does not list it in effects=, or {where}"


class RunError(ReactorError):
    """`run` or a function of a running program was called in a way that makes no sense.

    >>> from reactorlib import Reactor, run
    >>> class Hello(Reactor): ...
    >>> run(Hello, timeout=5)
    Traceback (most recent call last):
    ...
    reactorlib.errors.RunError: timeout must have a unit: 5 * NSEC if 5 is in nanoseconds, else 5 * MSEC, say
    """


class WorkerError(ReactorError):
    """`worker` of a parallel executor died, or (None) a value could not travel between workers.

    >>> issubclass(WorkerError, ReactorError), WorkerError("full").worker
    (True, None)
    """

    worker: int | None = None
