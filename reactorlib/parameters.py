"""The parameters of a reactor: the arguments of its constructor, by name."""

from __future__ import annotations

import inspect
from typing import Any


def named_parameters(cls: type, bound: inspect.BoundArguments) -> dict[str, Any]:
    """The arguments of a constructor by name. What its *args and **kwargs take is named as the next constructor among
    the base classes does, to which they are as a rule passed on.
    """
    bound.apply_defaults()
    own, *rest = bound.signature.parameters.values()
    found: dict[str, Any] = {}
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    for parameter in rest:
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            args = value
        elif parameter.kind is parameter.VAR_KEYWORD:
            kwargs = value
        else:
            found[parameter.name] = value
    if len(found) == len(rest):
        return found
    found = {**kwargs, **found}
    _, base, *_ = [klass for klass in cls.__mro__ if "__init__" in vars(klass)]
    if base is object:
        return found
    signature = inspect.signature(base.__init__)  # type: ignore[misc]  # read, never called
    try:
        passed = signature.bind(bound.arguments[own.name], *args, **kwargs)
    except TypeError:  # they go elsewhere
        return found
    return {**named_parameters(base, passed), **found}


def parameter_names(cls: type) -> set[str]:
    """The parameters of a constructor, with those of the base classes' to which *args and **kwargs are passed on."""
    found: set[str] = set()
    for klass in cls.__mro__:
        if klass is not object and "__init__" in vars(klass):
            _, *own = inspect.signature(klass.__init__).parameters.values()  # type: ignore[misc]  # read, never called
            named = {p.name for p in own if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
            found |= named
            if len(named) == len(own):
                break
    return found
