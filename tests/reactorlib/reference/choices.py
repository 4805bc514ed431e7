"""The sources of a generated program's choices: a seed, or recorded answers.

Both offer the same one question, so there is one generator, and every program can be reproduced.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """Answers one question again and again."""

    def integer(self, low: int, high: int) -> int:
        """An integer between low and high, both included; low is the simplest answer."""


class Seeded:
    """Choices of a pseudo-random generator, which are recorded."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.answers: list[int] = []  # how far above `low` each one was

    def integer(self, low: int, high: int) -> int:
        found = self._random.randint(low, high)
        self.answers.append(found - low)
        return found


class Recorded:
    """Answers of another run, as far as they fit, and then the simplest ones."""

    def __init__(self, answers: list[int]) -> None:
        self._answers = iter(answers)

    def integer(self, low: int, high: int) -> int:
        return min(low + next(self._answers, 0), high)


def one_in(choices: Choices, count: int) -> bool:
    """True once in `count` times; False is the simplest answer."""
    return choices.integer(0, count - 1) == count - 1


def pick(choices: Choices, options: Sequence[T]) -> T:
    """One of the options, the first being the simplest."""
    return options[choices.integer(0, len(options) - 1)]


def some(choices: Choices, options: Sequence[T], most: int, least: int = 0) -> list[T]:
    """Between `least` and `most` different options (fewer where there are not as many), in their order."""
    wanted = choices.integer(min(least, len(options)), min(most, len(options)))
    left = list(range(len(options)))
    chosen = [left.pop(choices.integer(0, len(left) - 1)) for _ in range(wanted)]
    return [options[index] for index in sorted(chosen)]
