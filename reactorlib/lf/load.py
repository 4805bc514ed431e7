"""From a path to a reactor class: files read, preambles run, classes made, every fault reported together."""

from __future__ import annotations

import copyreg
import sys
import warnings
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

from reactorlib.declaration.reactor import Reactor
from reactorlib.elaboration.program import Elaborated
from reactorlib.errors import ElaborationError
from reactorlib.lf.blueprint import Blueprint, LinguaFrancaType, LinguaFrancaWarning
from reactorlib.lf.bodies import BodyError, execute
from reactorlib.lf.expressions import hint
from reactorlib.lf.files import Files
from reactorlib.lf.names import new_module
from reactorlib.lf.translate import Program
from reactorlib.tag import Time

LOADED = "<loaded>"  # in a program's module, what it was made of
OPTIONS = {"timeout": Time, "fast": bool, "keepalive": bool, "workers": int}  # target properties that `run` takes


def load(path: str | Path, reactor: str | None = None, *, structure: bool | None = False) -> type[Reactor]:
    """The main reactor of a Lingua Franca file, or the one of that name, as a reactor class.

    Its parameters are the reactor's; `run_options` gives what its target properties ask of `run`. With `structure` all
    code is left out (with None, where the target is not Python), so that any program can be drawn and checked. Raises
    ElaborationError with all faults of all files, each with its line; warns, as LinguaFrancaWarning, of what has no
    meaning here.

    >>> import pathlib, tempfile
    >>> from reactorlib import run
    >>> from reactorlib.lf import load
    >>> path = pathlib.Path(tempfile.mkdtemp(), "Hello.lf")
    >>> _ = path.write_text('target Python main reactor(who="") { reaction(startup) {= print("hello", self.who) =} }')
    >>> result = run(load(path), who="world")
    hello world
    """
    path = Path(path)
    return load_as(path, free_name(path), reactor, structure)


def free_name(path: Path) -> str:
    """The name of a program's module: one that no import statement can mean."""
    name, number = f"{path.stem}-lf", 1
    while name in sys.modules:
        number += 1
        name = f"{path.stem}-lf-{number}"
    return name


def load_as(path: str | Path, module: str, reactor: str | None, structure: bool | None) -> type[Reactor]:
    """`load` into a module of that name, or from the one there is: what the pickle of a class asks for."""
    there = vars(sys.modules[module]).get(LOADED, lambda: None)() if module in sys.modules else None
    return (there or loaded(Path(path), module, structure)).chosen(reactor)


copyreg.pickle(LinguaFrancaType, lambda cls: (load_as, cls.__lf__.address))  # type: ignore[arg-type,return-value]  # classes are instances too


class Loaded:
    """A file whose reactors have become classes, by name."""

    def __init__(self, path: Path, program: Program) -> None:
        self.path = path
        self.main: str | None = None
        self.classes: dict[str, type[Reactor]] = {}
        for definition in program.files.reactors(program.files.main):
            translation = program.translation(definition)
            assert translation is not None
            self.classes[definition.name] = translation.cls
            if definition.reactor.main:
                self.main = definition.name

    def chosen(self, name: str | None) -> type[Reactor]:
        """The reactor of that name, or the main one. Raises ElaborationError."""
        name = name or self.main
        if name is None:
            raise ElaborationError([f"{self.path} has no main reactor: name one of {', '.join(self.classes)}"])
        if name not in self.classes:
            raise ElaborationError([f"{self.path} has no reactor {name!r}{hint(name, self.classes)}"])
        return self.classes[name]


def loaded(path: Path, module: str, structure: bool | None) -> Loaded:
    """All reactors of a file. Raises ElaborationError."""
    files = Files(path)
    target = files.main.tree.target
    is_python = target.lower() in ("python", "py")
    if structure is None:
        structure = not is_python
    if not structure and not is_python:
        words = "and only bodies in Python run here: its structure can be drawn and checked"
        raise ElaborationError([f"{path}: its target is {target}, {words}"])
    names = None if structure else new_module(module, path.resolve())
    program = Program(path, files, names)
    try:
        if names is not None:
            _prepare(program)
        made = Loaded(path, program)
        if program.faults:
            raise ElaborationError(list(dict.fromkeys(program.faults)))
        if names is not None:
            _let_go(made, names)
    except BaseException:
        sys.modules.pop(module, None)
        raise
    return made


def _let_go(made: Loaded, module: ModuleType) -> None:
    """Let the module be there, to be found by pickles, as long as one of the classes is."""
    for cls in made.classes.values():
        cls.__lf__.home = made  # type: ignore[attr-defined]  # of all classes made here
    vars(module)[LOADED] = weakref.ref(made)
    weakref.finalize(made, sys.modules.pop, module.__name__, None).atexit = False


def _prepare(program: Program) -> None:
    """Make the files that the program names importable, and run the preambles of all files, imported ones first."""
    assert program.names is not None
    for source in program.files.sources.values():
        for entry in source.tree.properties:
            if entry.name == "files":
                _importable(Path(source.path).resolve().parent, entry.value, first=True)
    _importable(program.path.resolve().parent, "", first=False)
    for source in program.files.sources.values():
        for preamble in source.tree.preambles:
            try:
                execute(preamble.code, source.path, program.names, program.names)
            except BodyError as error:
                program.faults.append(str(error))
    for entry in program.files.main.tree.properties:
        if entry.name not in {*OPTIONS, "files"}:
            words = f"the target property {entry.name!r} has no meaning here"
            warnings.warn_explicit(words, LinguaFrancaWarning, str(program.path), entry.line)
    for reactor in program.files.main.tree.reactors:
        if reactor.federated:
            words = "the federates run as one program with one logical time; there is no RTI"
            warnings.warn_explicit(words, LinguaFrancaWarning, str(program.path), reactor.line)


def _importable(directory: Path, files: Any, first: bool) -> None:
    """Directories of Python files on the path: Lingua Franca copies the files to one directory, which comes first."""
    for name in files if isinstance(files, list) else [files]:
        place = directory / str(name)
        folder = str(place if place.is_dir() else place.parent)
        if folder not in sys.path:
            sys.path.insert(0 if first else len(sys.path), folder)


def run_options(cls: type[Reactor]) -> dict[str, Any]:
    """What the file of a loaded class asks of `run` by its target properties: timeout, fast, keepalive, workers.

    >>> run_options(Reactor)
    {}
    """
    blueprint: Blueprint | None = getattr(cls, "__lf__", None)
    if blueprint is None:
        return {}
    found: dict[str, Any] = {}
    for entry in blueprint.properties:
        if entry.name in OPTIONS:
            if not isinstance(entry.value, OPTIONS[entry.name]):
                where = f"{blueprint.address[0]}:{entry.line}"
                raise ElaborationError([f"{where}: the target property {entry.name} cannot be {entry.value!r}"])
            found[entry.name] = entry.value
    if not found.get("workers", 1):
        del found["workers"]  # as many as suit the machine
    return found


def federates(program: Elaborated, workers: int) -> dict[str, int] | None:
    """The placement of a federated program: what the main reactor contains, each with the next worker, in turn.

    None where the program is not federated.
    """
    blueprint: Blueprint | None = getattr(program.cls, "__lf__", None)
    if blueprint is None or not blueprint.federated:
        return None
    return {child.path: number % workers for number, child in enumerate(program.root.children)}
