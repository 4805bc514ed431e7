"""One program, the interpreter and one run: the first difference, or none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any
from unittest.mock import patch

from reactorlib import NSEC, Program, elaborate, run
from tests.reactorlib.reference.body import logged
from tests.reactorlib.reference.interpreter import Behaviour, interpret
from tests.reactorlib.reference.source import build, render
from tests.reactorlib.reference.specification import ProgramSpec


@dataclass(frozen=True)
class Executor:
    """How a program is run, as options for `run`."""

    name: str = "inline"
    workers: int | None = None
    scattered: bool = False  # reactors dealt out to workers one by one, so that nearly every value crosses
    schedules: str = (
        ""  # "walked": no set of events has its own. Inline also has "compiled": each has, from its first use
    )

    @classmethod
    def parse(cls, text: str) -> Executor:
        """From "name", "name:workers" or "name:workers:scattered"; "compiled" and "walked" are ways of inline.

        "name:workers:walked" is scattered, and no set of events has a schedule of its own.
        """
        if text in ("compiled", "walked"):
            return cls(schedules=text)
        name, _, rest = text.partition(":")
        workers, _, how = rest.partition(":")
        return cls(name, int(workers) if workers else None, bool(how), how if how == "walked" else "")

    def options(self, main: Any, **parameters: Any) -> dict[str, Any]:
        """The keyword arguments of `run` for a reactor class or a program."""
        options: dict[str, Any] = {"executor": self.name, "workers": self.workers}
        if self.name == "processes":  # no other process can import the module of a random program
            options["start_method"] = "fork"
        if self.scattered and self.workers is not None:
            instances = (main if isinstance(main, Program) else elaborate(main, **parameters)).instances
            options["placement"] = {instance.path: at % self.workers for at, instance in enumerate(instances)}
        return options

    @contextmanager
    def surroundings(self) -> Iterator[None]:
        """The environment in which runs are to be started."""
        with patch.dict(os.environ, {"REACTORLIB_SCHEDULES": self.schedules}):
            yield

    def __str__(self) -> str:
        if self.workers is None:
            return self.schedules or self.name
        return ":".join([self.name, str(self.workers), *([self.schedules or "scattered"] if self.scattered else [])])


INLINE = Executor()
WAYS = (Executor.parse("compiled"), Executor.parse("walked"))


def observe(program: ProgramSpec, executor: Executor = INLINE) -> tuple[Behaviour, str]:
    """Run the program on the runtime and return its behaviour and its digest."""
    main = build(program)
    with executor.surroundings(), logged() as seen:
        result: Any = run(main, timeout=program.timeout_ns * NSEC, fast=True, trace=True, **executor.options(main))
    if executor.name == "mpi":
        from reactorlib.mpi.ranks import joined  # only there: every rank has seen its own part

        seen = {key: sights for part in joined().gather(seen, "what was seen") for key, sights in part.items()}
    records = tuple((tuple(record.tag), record.reaction, tuple(record.writes)) for record in result.trace)
    return Behaviour(records, tuple(result.tag), seen), result.digest


def difference(program: ProgramSpec, executors: tuple[Executor, ...] = WAYS) -> str | None:
    """Where the first run that differs leaves the interpreter's trace, in words; None where none does."""
    expected = interpret(program)
    digests: dict[str, str] = {}
    for executor in executors:
        try:
            got, digest = observe(program, executor)
        except Exception as error:  # noqa: BLE001 - whatever a run raises is a difference worth shrinking
            return f"{executor}: {type(error).__name__}: {error}"
        for index, (want, have) in enumerate(zip_longest(expected.records, got.records)):
            if want != have:
                recent = expected.records[max(0, index - 3) : index]
                before = "".join(f"\n      ... {record}" for record in recent)
                return f"{executor}: record {index}{before}\n  expected {want}\n  got      {have}"
        if got.last != expected.last:
            return f"{executor}: last tag: expected {expected.last}, got {got.last}"
        for key in sorted(expected.seen.keys() | got.seen.keys()):
            sights, looks = expected.seen.get(key), got.seen.get(key)
            if sights != looks:
                return f"{executor}: seen by {key[1]} at {key[0]}\n  expected {sights}\n  got      {looks}"
        digests[str(executor)] = digest
    if len(set(digests.values())) > 1:
        return f"equal traces, different digests: {digests}"
    return None


def explain(program: ProgramSpec, found: str) -> str:
    """The difference together with the program, ready to be run."""
    return f"{found}\n\n{render(program)}"
