"""What expressions of a Lingua Franca file are worth: each becomes a function of the names that it may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from reactorlib.errors import closest
from reactorlib.lf.bodies import Names, expression
from reactorlib.lf.syntax import Code, Expression, Literal, Name, Sum, WidthOf
from reactorlib.tag import Time

Scope = Mapping[str, Any]
Value = Callable[[Scope], Any]
WIDTH_OF = "<widthof>"  # in a scope: the width of a port
AROUND = "<around>"  # in the scope of a bank's member: that of the reactor which contains the bank


class ExpressionError(Exception):
    """An expression that uses what is not there: line and words."""

    def __init__(self, line: int, words: str) -> None:
        self.line = line
        super().__init__(words)


def hint(name: str, known: Collection[str]) -> str:
    """What may have been meant instead."""
    close = closest(name, known)
    return f": did you mean {close!r}?" if close else ""


def value_of(tree: Expression, names: Collection[str], path: str, module: Names | None) -> Value:
    """The function of a scope, which holds `names`, that gives the value. Times are plain integers of nanoseconds.

    Without a `module`, as in a file for another target, code and texts mean nothing and are None. Raises
    ExpressionError and BodyError.

    >>> value_of(Sum((Literal(1), Name("n", 1))), {"n"}, "Main.lf", {})({"n": 2})
    3
    """
    if isinstance(tree, Literal):
        value = int(tree.value) if isinstance(tree.value, Time) else tree.value
        return lambda _: value
    if isinstance(tree, Name):
        if tree.name not in names:
            raise ExpressionError(tree.line, f"{tree.name!r} is no parameter here{hint(tree.name, names)}")
        return lambda scope: _named(tree.name, scope)
    if isinstance(tree, Code):
        return (lambda _: None) if module is None else _of_code(tree, names, path, module)
    if isinstance(tree, WidthOf):
        port = tree.port
        return lambda scope: scope[WIDTH_OF](port)
    parts = [value_of(part, names, path, module) for part in (tree.terms if isinstance(tree, Sum) else tree.items)]
    if isinstance(tree, Sum):
        return lambda scope: sum(part(scope) for part in parts)
    braced: type = list if module is None else set if parts else dict  # {} is what Python makes of it
    kind = {"(": tuple, "{": braced}.get(tree.bracket, list)
    return lambda scope: kind(part(scope) for part in parts)


def as_time(value: Any) -> Any:
    """A number of nanoseconds as the kernel takes it. What other targets' code would say is no time to wait for."""
    return Time(round(value or 0)) if value is None or isinstance(value, int | float) else value


def _named(name: str, scope: Scope) -> Any:
    """A parameter, of the reactor that the expression stands in: code alone sees the index of each member."""
    around = scope.get(AROUND, scope)
    return around[name] if name in around else scope[name]


def _of_code(code: Code, names: Collection[str], path: str, module: Names) -> Value:
    visible = [name for name in names if name.isidentifier()]
    called = expression(visible, code, path, module)
    return lambda scope: called(**{name: scope[name] for name in visible})
