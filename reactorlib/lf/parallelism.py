"""How a Lingua Franca program runs: in parallel, unless its target properties or the caller say otherwise."""

from __future__ import annotations

import sys
from typing import Any

from reactorlib.cpus import available_cpus, gil_enabled
from reactorlib.elaboration.program import Elaborated
from reactorlib.lf.load import run_options
from reactorlib.lf.sharing import shared_state
from reactorlib.lf.translate import Translation
from reactorlib.schedule.partition import partition
from reactorlib.schedule.spreading import spread


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
    translation: Translation = program.cls.__lf__  # type: ignore[attr-defined]  # of all classes from Lingua Franca
    said = {name: entry.value for name, entry in translation.properties.items()}
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
    changed = shared_state(translation.program)
    if not changed:
        return options, None
    words = f"bodies may change {', '.join(changed[:4])}{', ...' if len(changed) > 4 else ''}, which all reactors share"
    return {**options, "executor": "threads"}, f"{words}: the program runs on threads"


def federates(program: Elaborated, workers: int) -> dict[str, int] | None:
    """The placement of a federated program: what the main reactor contains, each with the next worker, in turn.

    None where the program is not federated.
    """
    translation: Translation | None = getattr(program.cls, "__lf__", None)
    if translation is None or not translation.federated:
        return None
    return {child.path: number % workers for number, child in enumerate(program.root.children)}
