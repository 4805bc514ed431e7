"""How a Lingua Franca program runs: in parallel, unless its target properties or the caller say otherwise."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from reactorlib.cpus import available_cpus, gil_enabled
from reactorlib.elaboration.records import Elaborated
from reactorlib.lf.bodies import statements
from reactorlib.lf.changed_names import FIXED, changed_by_functions, changed_names
from reactorlib.lf.load import run_options
from reactorlib.lf.syntax import codes
from reactorlib.lf.translate import LfProgram, Translation
from reactorlib.schedule.partition import partition


def execution(
    program: Elaborated, executor: str | None = None, workers: int | None = None
) -> tuple[dict[str, Any], str | None]:
    """The executor, workers and placement for `run`, and a line to show about them, or None.

    `executor` and `workers`, if given, win over the target properties. Otherwise a program runs on as many workers as
    its property `workers` says. Without that, it runs on one per core or, if federated, one per federate, unless it is
    `single-threaded`. Programs whose bodies change what a preamble defines, or a parameter that reactors share, run on
    threads.
    """
    translation: Translation = program.cls.__lf__  # type: ignore[attr-defined]  # of all classes from Lingua Franca
    said = {name: entry.value for name, entry in translation.properties.items()}
    single = said.get("single-threaded") is True or said.get("threading") is False
    if executor in ("inline", "mpi") or (executor is None and workers is None and single):
        return {"executor": executor or "inline"}, None
    apart = federates(program, len(program.root.children)) or {}
    workers = workers or run_options(program.cls).get("workers") or len(apart) or available_cpus()
    placement = federates(program, workers)
    if partition(program, workers, placement).abreast < 2 and executor in (None, "auto"):
        return {"executor": "inline"}, None
    options = {"executor": executor or "auto", "workers": workers, "placement": placement}
    if options["executor"] != "auto" or not gil_enabled() or sys.platform != "linux" or apart:
        return options, None
    changed = shared_state(translation.program, _shared_parameters(program))
    if not changed:
        return options, None
    words = f"bodies may change {', '.join(changed[:4])}{', ...' if len(changed) > 4 else ''}, which all reactors share"
    return {**options, "executor": "threads"}, f"{words}: the program runs on threads"


def federates(program: Elaborated, workers: int) -> dict[str, int] | None:
    """The placement of a federated program: each child of the main reactor has the next worker. Else None."""
    translation: Translation | None = getattr(program.cls, "__lf__", None)
    if translation is None or not translation.federated:
        return None
    return {child.path: number % workers for number, child in enumerate(program.root.children)}


def _shared_parameters(program: Elaborated) -> dict[str, Any]:
    """The objects that several reactors have as a parameter, as `self.name`."""
    held = [(name, value) for instance in program.instances for name, value in instance.parameters.items()]
    count = Counter(id(value) for _, value in held)
    return {f"self.{name}": value for name, value in held if count[id(value)] > 1 and not isinstance(value, FIXED)}


def shared_state(program: LfProgram, parameters: Mapping[str, Any]) -> list[str]:
    """The names that bodies may change, those that preambles define, and those of shared `parameters`."""
    names = program.names or {}
    translations = [made for made in program.translations.values() if made is not None]
    own = {f"self.{name}": value for made in translations for name, value in made.methods.items()}
    own.update(parameters)
    found: set[str] = set()
    for file in program.files.files.values():
        for preamble in file.preambles:
            found |= changed_by_functions(statements(preamble.code), names)
        for code in codes(file.reactors):
            found |= changed_names(statements(code), {**names, **own})
    for module in _modules_of(program, names):
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        found |= {f"{module.__name__}.{name}" for name in changed_by_functions(tree.body, vars(module))}
    return sorted(found)


def _modules_of(program: LfProgram, names: Mapping[str, Any]) -> Iterator[ModuleType]:
    """The modules that preambles import from the folders of the program's files, but not from environments there."""
    folders = {path.parent for path in program.files.files}
    asked = {str(getattr(value, "__module__", None) or getattr(value, "__name__", "")) for value in names.values()}
    for name in asked & sys.modules.keys():
        file = Path(getattr(sys.modules[name], "__file__", None) or "")
        is_installed = not {"site-packages", "dist-packages"}.isdisjoint(file.parts)
        if file.suffix == ".py" and not folders.isdisjoint(file.parents) and not is_installed:
            yield sys.modules[name]
