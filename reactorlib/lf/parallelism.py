"""How a Lingua Franca program runs: in parallel, unless its target properties or the caller say otherwise."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from reactorlib.cpus import available_cpus, gil_enabled
from reactorlib.elaboration.program import Elaborated
from reactorlib.lf.blueprint import Blueprint
from reactorlib.lf.load import run_options
from reactorlib.lf.sharing import shared_state
from reactorlib.schedule.partition import partition


def execution(
    program: Elaborated, executor: str | None = None, workers: int | None = None
) -> tuple[dict[str, Any], str | None]:
    """The executor, workers and placement for `run`, and a line to show about them, or None.

    `executor` and `workers`, if given, win over the target properties. Without either, a program runs on as many
    workers as its property `workers` says, else on one per core (a federated one on one per federate), unless it is
    `single-threaded`. Programs whose bodies change what a preamble defines run on threads, where they share it.

    >>> import pathlib, tempfile
    >>> from reactorlib import elaborate
    >>> from reactorlib.lf import load
    >>> path = pathlib.Path(tempfile.mkdtemp(), "One.lf")
    >>> _ = path.write_text("target Python { single-threaded: true } main reactor { timer t reaction(t) {= pass =} }")
    >>> execution(elaborate(load(path)))
    ({'executor': 'inline'}, None)
    """
    blueprint: Blueprint = program.cls.__lf__  # type: ignore[attr-defined]  # of all classes from Lingua Franca
    said = {name: entry.value for name, entry in blueprint.properties.items()}
    single = said.get("single-threaded") is True or said.get("threading") is False
    if executor in ("inline", "mpi") or (executor is None and workers is None and single):
        return {"executor": executor or "inline"}, None
    apart = federates(program, len(program.root.children)) or {}
    workers = workers or run_options(program.cls).get("workers") or len(apart) or available_cpus()
    placement = federates(program, workers) or spread(program, workers)
    if len(set(partition(program, workers, placement).of_node)) < 2 and executor in (None, "auto"):
        return {"executor": "inline"}, None
    options = {"executor": executor or "auto", "workers": workers, "placement": placement}
    if options["executor"] != "auto" or not gil_enabled() or sys.platform != "linux" or apart:
        return options, None
    changed = shared_state(blueprint.home)
    if not changed:
        return options, None
    words = f"bodies may change {', '.join(changed[:4])}{', ...' if len(changed) > 4 else ''}, which all reactors share"
    return {**options, "executor": "threads"}, f"{words}: the program runs on threads"


def federates(program: Elaborated, workers: int) -> dict[str, int] | None:
    """The placement of a federated program: what the main reactor contains, each with the next worker, in turn.

    None where the program is not federated.
    """
    blueprint: Blueprint | None = getattr(program.cls, "__lf__", None)
    if blueprint is None or not blueprint.federated:
        return None
    return {child.path: number % workers for number, child in enumerate(program.root.children)}


def spread(program: Elaborated, workers: int) -> dict[str, int] | None:
    """A placement in which reactions of one level, which may run at once, are on different workers.

    None where banks that are spread evenly do as well. A reactor whose level leaves it the choice joins what it reads.
    """
    levels: dict[str, set[int]] = defaultdict(set)  # of the reactions of each reactor
    sources: dict[str, set[str]] = defaultdict(set)
    once = {trigger.cell for trigger in program.triggers if trigger.kind in ("startup", "shutdown")}
    writer = {cell: reaction.instance.path for reaction in program.reactions for cell in reaction.writes}
    for reaction, level in zip(program.reactions, program.order.level, strict=False):
        path = reaction.instance.path
        # What runs once counts on its own, below the levels: it separates only what is not connected.
        levels[path].add(level - len(program.order.level) if once.issuperset(reaction.triggers) else level)
        sources[path] |= {writer[cell] for cell in reaction.reads if cell in writer}
    placed: dict[str, int] = {}
    loads = Counter[tuple[int, int]]()
    for path, of in sorted(levels.items(), key=lambda item: max(item[1])):
        near = {placed[source] for source in sources[path] if source in placed}
        placed[path] = min(range(workers), key=lambda worker: (
            sum(loads[level, worker] for level in of if level >= 0), worker not in near,
            sum(loads[level, worker] for level in of), worker,
        ))  # fmt: skip
        loads.update((level, placed[path]) for level in of)
    usual = partition(program, workers).of_instance
    even = {instance.path: worker for instance, worker in zip(program.instances, usual, strict=True)}
    return placed if _busiest(levels, placed) < _busiest(levels, even) else None


def _busiest(levels: Mapping[str, set[int]], placed: Mapping[str, int]) -> tuple[int, int]:
    """The number of reactors on the busiest worker of each level, added up: of all but what runs once, then of that."""
    most: dict[int, int] = defaultdict(int)
    for (level, _), count in Counter((level, placed[path]) for path, of in levels.items() for level in of).items():
        most[level] = max(most[level], count)
    return sum(n for level, n in most.items() if level >= 0), sum(n for level, n in most.items() if level < 0)
