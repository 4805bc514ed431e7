"""Random programs in which reactions raise: every executor reports the one that inline does.

REACTORLIB_RANDOM_FAILURES says how many programs (default 60).
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import Any

import pytest

from reactorlib import NSEC, ReactionError, current_tag, run
from tests.choice import first
from tests.reactorlib.reference import body
from tests.reactorlib.reference.choices import Seeded
from tests.reactorlib.reference.comparison import Executor, observe
from tests.reactorlib.reference.generator import generate
from tests.reactorlib.reference.source import build, render
from tests.reactorlib.reference.specification import ProgramSpec

PROGRAMS = int(os.environ.get("REACTORLIB_RANDOM_FAILURES", "60"))
CHUNK = 10
Faults = set[tuple[str, tuple[int, int]]]
EXECUTORS = [Executor.parse(text) for text in ("threads:3:scattered", "processes:2:scattered", "processes:4:scattered")]


def faults_of(program: ProgramSpec, choices: random.Random) -> Faults:
    """Some (method, tag). Every reactor with a method of this name fails there, on every worker that runs one."""
    records = observe(program)[0].records
    chosen = choices.sample(records, min(len(records), choices.randrange(1, 4)))
    return {(reaction.rpartition(".")[2], tuple(tag)) for tag, reaction, _ in chosen}


def error_of(program: ProgramSpec, executor: Executor) -> Any:
    """The error of a run and its tag, or None if it ends without an error."""
    main = build(program)
    try:
        run(main, timeout=program.timeout_ns * NSEC, fast=True, **executor.options(main))
    except ReactionError as error:
        return str(error), error.reactor, error.reaction, error.tag
    return None


def failing(monkeypatch: pytest.MonkeyPatch) -> Faults:
    """Methods raise at the tags that the set has."""
    perform = body.perform
    faults: Faults = set()

    def failing(reactor: Any, name: str, *rest: Any) -> None:
        if (name, tuple(current_tag())) in faults:
            raise ValueError(f"{type(reactor).__name__} {reactor.bank_index}")
        perform(reactor, name, *rest)

    monkeypatch.setattr(body, "perform", failing)
    return faults


def check(seed: int, executors: Sequence[Executor], faults: Faults) -> None:
    """Compare the error of a program on each executor with its error on inline."""
    program = generate(Seeded(seed))
    faults.clear()
    found = faults_of(program, random.Random(seed))
    faults |= found
    expected = error_of(program, Executor())
    for executor in executors:
        got = error_of(program, executor)
        assert got == expected, f"seed {seed}, {executor}, {faults}\n{render(program)}"


@pytest.mark.parametrize("chunk", first(1, range(-(-PROGRAMS // CHUNK)), "of 60 random programs 10 are always tried"))
def test_the_error_is_that_of_inline(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = failing(monkeypatch)
    for seed in range(chunk * CHUNK, min((chunk + 1) * CHUNK, PROGRAMS)):
        check(50_000 + seed, EXECUTORS, faults)
