"""Make the answers behind a failing program fewer and smaller, as long as the program fails."""

from __future__ import annotations

from collections.abc import Callable


def shrink(answers: list[int], fails: Callable[[list[int]], bool], attempts: int = 1000) -> list[int]:
    """The simplest answers found that still fail, after at most that many tries."""
    size = len(answers)
    while size and attempts > 0:
        at, improved = 0, False
        while at < len(answers) and attempts > 0:
            block, rest = answers[at : at + size], answers[at + size :]
            for simpler in ([], [0] * len(block), [answer // 2 for answer in block]):
                candidate = [*answers[:at], *simpler, *rest]
                if simpler == block or attempts <= 0:
                    continue
                attempts -= 1
                if fails(candidate):
                    answers, improved = candidate, True
                    break
            else:
                at += size
        size = size if improved else size // 2
    return answers
