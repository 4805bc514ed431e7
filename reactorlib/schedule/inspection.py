"""A program's schedules as text, with the partition and the waits."""

from __future__ import annotations

from collections.abc import Collection

from reactorlib.elaboration.records import Elaborated
from reactorlib.errors import ReactorError
from reactorlib.schedule.compiler import Compiler
from reactorlib.schedule.partition import partition
from reactorlib.schedule.plan import plan_of
from reactorlib.schedule.split import Splitter


def triggers_named(program: Elaborated, names: Collection[str]) -> list[int]:
    """The triggers with these paths; a path may leave out the top-level reactor's name."""
    paths = {trigger.path: index for index, trigger in enumerate(program.triggers)}
    known = {path.partition(".")[2]: index for path, index in reversed(paths.items()) if "." in path} | paths
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise ReactorError(f"{unknown!r} triggers nothing here: one of {', '.join(sorted(known)[:12])}")
    return [known[name] for name in names]


def source_of(program: Elaborated, triggers: Collection[str], workers: int) -> str:
    """The schedule for triggers given by path, or for several workers the partition and each one's schedule."""
    compiler = Compiler(program, traced=False)
    plan = plan_of(program, triggers_named(program, triggers))
    if workers == 1:
        return compiler.write(plan).text
    placed = partition(program, workers)
    parts = Splitter(program, placed, copies=True).split(plan)
    texts = ["".join(f"# {line}\n" for line in placed.describe(program).splitlines())]
    texts += [f"# worker {worker}\n{compiler.write(part).text}" for worker, part in sorted(parts.items())]
    return "\n".join(texts)
