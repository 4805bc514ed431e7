"""Which of many parameters `make test` takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first(count: int, values: Iterable[Any], reason: str) -> list[Any]:
    """Parameters of which the first so many are always tried, and the others are slow, for this reason.

    A value that is a tuple holds those of several names.
    """
    slow = pytest.mark.slow(reason=reason)
    made = list(values)
    return [*made[:count], *(pytest.param(*_values(value), marks=slow) for value in made[count:])]


def _values(parameters: Any) -> tuple[Any, ...]:
    return parameters if isinstance(parameters, tuple) else (parameters,)
