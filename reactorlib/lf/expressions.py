"""What expressions of a Lingua Franca file are worth: each becomes a function of the names that it may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from reactorlib.errors import closest
from reactorlib.lf.bodies import BodyError, Names, expression
from reactorlib.lf.syntax import Code, Expression, Literal, Name, PortReference
from reactorlib.tag import Time

Scope = Mapping[str, Any]
Value = Callable[[Scope], Any]
WIDTH_OF = "<widthof>"  # in a scope: the width of a port
AROUND = "<around>"  # in the scope of a bank's member: that of the reactor which contains the bank


def hint(name: str, known: Collection[str]) -> str:
    """What may have been meant instead."""
    close = closest(name, known)
    return f": did you mean {close!r}?" if close else ""


def value_of(tree: Expression, names: Collection[str], module: Names | None) -> Value:
    """The function of a scope, which holds `names`, that gives the value. Times are plain integers of nanoseconds.

    Without a `module`, as in a file for another target, code and texts mean nothing and are None. Raises BodyError.

    >>> value_of(Listing("+", (Literal(1), Name("n", "Main.lf:1"))), {"n"}, {})({"n": 2})
    3
    """
    if isinstance(tree, Literal):
        value = int(tree.value) if isinstance(tree.value, Time) else tree.value
        return lambda _: value
    if isinstance(tree, Name):
        if tree.name not in names:
            raise BodyError(f"{tree.where}: {tree.name!r} is no parameter here{hint(tree.name, names)}")
        return lambda scope: _named(tree.name, scope)
    if isinstance(tree, Code):
        if module is None:
            return lambda _: None
        visible = [name for name in names if name.isidentifier()]
        called = expression(visible, tree, module)
        return lambda scope: called(**{name: scope[name] for name in visible})
    if isinstance(tree, PortReference):
        return lambda scope: scope[WIDTH_OF](tree)
    parts = [value_of(part, names, module) for part in tree.items]
    braced: Any = list if module is None else set if parts else dict  # {} is what Python makes of it
    kind = {"(": tuple, "{": braced, "+": sum}.get(tree.kind, list)
    return lambda scope: kind(part(scope) for part in parts)


def as_time(value: Any) -> Any:
    """A number of nanoseconds as the kernel takes it. What other targets' code would say is no time to wait for."""
    return Time(round(value or 0)) if value is None or isinstance(value, int | float) else value


def _named(name: str, scope: Scope) -> Any:
    """A parameter, of the reactor that the expression stands in: code alone sees the index of each member."""
    around = scope.get(AROUND, scope)
    return around[name] if name in around else scope[name]
