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
    usual = partition(program, workers)
    spans: dict[str, set[int]] = defaultdict(set)  # levels of each reactor's reactions
    starts: dict[str, set[int]] = defaultdict(set)  # of those that only startup and shutdown trigger
    sources: dict[str, list[str]] = defaultdict(list)
    once = {trigger.cell for trigger in program.triggers if trigger.kind in ("startup", "shutdown")}
    writer = {cell: reaction.instance.path for reaction in program.reactions for cell in reaction.writes}
    for reaction, level in zip(program.reactions, program.order.level, strict=False):
        path = reaction.instance.path
        (starts if once.issuperset(reaction.triggers) else spans)[path].add(level)
        sources[path] += [writer[cell] for cell in reaction.reads if cell in writer]
    placed: dict[str, int] = {}
    loads, begun = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for path in sorted(sources, key=lambda path: min(spans[path] or starts[path])):
        near = {placed[source] for source in sources[path] if source in placed}
        placed[path] = min(range(workers), key=lambda worker: (
            sum(loads[level, worker] for level in spans[path]), worker not in near,
            sum(begun[level, worker] for level in starts[path]), worker,
        ))  # fmt: skip
        loads.update((level, placed[path]) for level in spans[path])
        begun.update((level, placed[path]) for level in starts[path])
    even = {instance.path: worker for instance, worker in zip(program.instances, usual.of_instance, strict=True)}
    for levels in (spans, starts):
        if _busiest(levels, placed) != _busiest(levels, even):
            return placed if _busiest(levels, placed) < _busiest(levels, even) else None
    return None


def _busiest(levels: Mapping[str, set[int]], placed: Mapping[str, int]) -> int:
    """The number of reactors, summed over levels, that the busiest worker of each level has."""
    loads = Counter((level, placed[path]) for path, found in levels.items() for level in found)
    return sum(max(count for (at, _), count in loads.items() if at == level) for level in {at for at, _ in loads})
