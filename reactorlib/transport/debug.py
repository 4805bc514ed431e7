"""Invariants of the kernel, which are asserted with REACTORLIB_DEBUG=1. Without it, this costs nothing in a run.

The variable is read once, on import. So a method is either wrapped from the start or never.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

DEBUG = os.environ.get("REACTORLIB_DEBUG") == "1"


def before(check: Callable[..., None]) -> Callable[[Method], Method]:
    """A decorator: `check` gets what the method gets, before each call."""

    def decorated(method: Method) -> Method:
        @wraps(method)
        def checked(*arguments: Any, **named: Any) -> Any:
            check(*arguments, **named)
            return method(*arguments, **named)

        return checked if DEBUG else method  # type: ignore[return-value]

    return decorated


def after(check: Callable[[Any, Any], None]) -> Callable[[Method], Method]:
    """A decorator: `check` gets the object and what its method returns, after each call."""

    def decorated(method: Method) -> Method:
        @wraps(method)
        def checked(self: Any, *arguments: Any, **named: Any) -> Any:
            result = method(self, *arguments, **named)
            check(self, result)
            return result

        return checked if DEBUG else method  # type: ignore[return-value]

    return decorated
