"""Threads that are switched at random moments do as inline does. Only in `make soak`, SOAK_SECONDS for all tests.

    PYTHON_GIL=0 .venv-ft/bin/python -m pytest -m soak --timeout=0 -s tests/soak/test_thread_switching.py

repeats programs, failures, sessions and the conformance tests without a GIL. It prints how many.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reactorlib import RunError, Session
from reactorlib.cpus import gil_enabled
from tests.reactorlib.executors import test_random_failures as failures
from tests.reactorlib.reference import body
from tests.reactorlib.reference.campaign import check
from tests.reactorlib.reference.choices import Seeded
from tests.reactorlib.reference.comparison import INLINE, Executor
from tests.reactorlib.reference.generator import generate
from tests.reactorlib.reference.source import build, render
from tests.soak.switching import pause, switching

ROOT = Path(__file__).parents[2]
TESTS = 5  # that share the time
SECONDS = float(os.environ.get("SOAK_SECONDS", "600")) / TESTS
TEXTS = ("threads:2", "threads:2:scattered", "threads:3:scattered", "threads:5:scattered")
EXECUTORS = tuple(Executor.parse(text) for text in TEXTS)
STEPS = 12
LONGEST_REPETITION_S = 1200  # the conformance tests on a busy machine; a longer test hangs

pytestmark = [pytest.mark.soak, pytest.mark.timeout(SECONDS + LONGEST_REPETITION_S)]


@pytest.fixture(autouse=True)
def pausing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reactions of random programs pause: before they read, between what they set, and at their end."""
    perform, decide = body.perform, body.decide

    def deciding(*question: Any) -> Iterator[Any]:
        for operation in decide(*question):
            pause()
            yield operation

    def performing(*arguments: Any) -> None:
        pause()
        perform(*arguments)
        pause()

    monkeypatch.setattr(body, "decide", deciding)
    monkeypatch.setattr(body, "perform", performing)


def seeds(what: str) -> Iterator[int]:
    """Seeds never tried before, until the time is over."""
    began, end = random.SystemRandom().randrange(10**6, 10**12), time.monotonic() + SECONDS
    seed = began
    while time.monotonic() < end:
        yield seed
        seed += 1
    kind = "with" if gil_enabled() else "without"
    print(f"{seed - began} {what} {kind} a GIL, each on {', '.join(TEXTS)}: no difference")


@pytest.mark.parametrize("wide", [False, True])
def test_programs_are_as_inline(wide: bool) -> None:
    for seed in seeds("wide programs" if wide else "programs"):
        with switching():
            failure = check(seed, (INLINE, *EXECUTORS), wide)
        assert failure is None, failure.text


def test_failures_are_as_inline(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = failures.failing(monkeypatch)
    for seed in seeds("programs that fail"):
        with switching():
            failures.check(seed, EXECUTORS, faults)


def driven(seed: int, executor: Executor) -> tuple[Any, ...]:
    """A session of random steps: its trace, its last tag, what its reactions read, and why a step was refused."""
    program, draw = generate(Seeded(seed)), random.Random(seed)
    main, at_ns, refused = build(program), 0, ""
    with body.logged() as seen:
        session = Session(main, trace=True, **executor.options(main))
        try:
            for _ in range(STEPS):
                at_ns += draw.randrange(1 + program.timeout_ns // 4)
                session.begin(until=draw.choice((None, at_ns)))
                session.finish()
        except RunError as error:  # the program has stopped
            refused = str(error)
        result: Any = session.close()
    return result.digest, result.trace, result.tag, seen, refused


def test_sessions_are_as_inline() -> None:
    for seed in seeds("sessions"):
        with switching():
            expected = driven(seed, INLINE)
            for executor in EXECUTORS:
                assert driven(seed, executor) == expected, f"{executor}, seed {seed}\n{render(generate(Seeded(seed)))}"


def test_the_conformance_tests_pass() -> None:
    end, repeated, passed = time.monotonic() + SECONDS, 0, 0
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.soak.switching", "tests/reactorlib/conformance"]
    while time.monotonic() < end:
        environment = {**os.environ, "REACTORLIB_TEST_EXECUTORS": random.choice(TEXTS)}
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout
        repeated += 1
        passed += int(re.findall(r"(\d+) passed", ended.stdout)[-1])
    print(f"{repeated} repetitions of the conformance tests, {passed} tests: all passed")
