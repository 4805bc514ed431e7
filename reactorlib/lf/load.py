"""From a path to a reactor class: files read, preambles run, classes made, every fault reported together."""

from __future__ import annotations

import ast
import copyreg
import re
import sys
import warnings
import weakref
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from reactorlib.declaration.reactor import Reactor
from reactorlib.errors import ElaborationError
from reactorlib.lf.blueprint import Blueprint, LinguaFrancaWarning
from reactorlib.lf.bodies import BodyError, execute, statements
from reactorlib.lf.expressions import hint
from reactorlib.lf.files import Files, Source
from reactorlib.lf.names import new_module, package_of
from reactorlib.lf.syntax import Preamble, codes
from reactorlib.lf.translate import Program
from reactorlib.tag import Time

LOADED = "<loaded>"  # in a program's module, what it was made of
OPTIONS = {"timeout": Time, "fast": bool, "keepalive": bool, "workers": int}  # target properties that `run` takes
KNOWN = {*OPTIONS, "files", "single-threaded", "threading"}
# Where a package to install is not called as its module is.
DISTRIBUTIONS = {"cv2": "opencv-python", "PIL": "pillow", "sklearn": "scikit-learn", "yaml": "pyyaml",
                 "skimage": "scikit-image", "serial": "pyserial", "usb": "pyusb", "zmq": "pyzmq",
                 "ale_py": "gymnasium[atari]", "gym": "gym (or gymnasium, its successor)"}  # fmt: skip


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


def _pickled(cls: Any) -> Any:
    """How a class of reactors travels: by its name, or, made from Lingua Franca, by its file."""
    return (load_as, vars(cls)["__lf__"].address) if "__lf__" in vars(cls) else cls.__qualname__


copyreg.pickle(type(Reactor), _pickled)


class Loaded:
    """A file whose reactors have become classes, by name."""

    def __init__(self, path: Path, program: Program) -> None:
        self.path = path
        self.program = program
        self.main: str | None = None
        self.classes: dict[str, type[Reactor]] = {}
        for definition in program.files.reactors(program.files.main):
            translation = program.translation(definition)
            assert translation is not None
            self.classes[definition.name] = translation.cls
            if definition.reactor.main:
                self.main = definition.name

    def shared_state(self) -> list[str]:
        """What the preambles define and bodies may change."""
        from reactorlib.lf.sharing import shared_state  # only where reactions may run in processes

        return shared_state(self.program)

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
    sources = program.files.sources.values()
    _find_files(program)
    is_federated = any(reactor.federated for reactor in program.files.main.tree.reactors)
    for source in sources:
        _refuse_missing(program, source)
        for code in codes(source.tree) if is_federated else ():
            if re.search(r"\blf\s*\.\s*stop\s*\(", code.text):
                words = "lf.stop() ends one federate of several; here one program runs all federates"
                program.fault(source, code.line, words)
    if program.faults:
        raise ElaborationError(program.faults)
    for source in sources:
        for preamble in source.tree.preambles:
            try:
                execute(preamble.code, source.path, program.names, program.names)
            except BodyError as error:
                program.faults.append(str(error))
    for entry in program.files.main.tree.properties:
        if entry.name not in KNOWN:
            words = f"the target property {entry.name!r} has no meaning here"
            warnings.warn_explicit(words, LinguaFrancaWarning, str(program.path), entry.line)
    for reactor in program.files.main.tree.reactors:
        if reactor.federated:
            words = "the federates run as one program with one logical time; there is no RTI"
            warnings.warn_explicit(words, LinguaFrancaWarning, str(program.path), reactor.line)


def _refuse_missing(program: Program, source: Source) -> None:
    """Note the modules that preambles import and that are not installed. An import within `try` may fail."""
    members = [member for reactor in source.tree.reactors for member in reactor.members]
    for preamble in (*source.tree.preambles, *(member for member in members if isinstance(member, Preamble))):
        try:
            found = statements(preamble.code)
        except SyntaxError:  # which is a fault of its own
            continue
        for statement in found:
            names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
            if isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
                names = [statement.module]
            for name in dict.fromkeys(name.partition(".")[0] for name in names):
                if name not in sys.modules and find_spec(name) is None:
                    words = f"no module {name!r} is installed: pip install {DISTRIBUTIONS.get(name, name)}"
                    program.fault(source, preamble.code.line + statement.lineno - 2, words)


def _find_files(program: Program) -> None:
    """Let Python files and packages be imported: Lingua Franca copies them to the directory of the program.

    They are beside the file that names them, or beside its package, and come before what is installed.
    """
    for source in program.files.sources.values():
        path = Path(source.path).resolve()
        for entry in source.tree.properties:
            names = entry.value if isinstance(entry.value, list) else [entry.value]
            for name in names if entry.name == "files" else []:
                places = [at / str(name) for at in (path.parent, package_of(path)) if (at / str(name)).exists()]
                for folder in [place.parent for place in places] + [place for place in places if place.is_dir()]:
                    if str(folder) not in sys.path:
                        sys.path.insert(0, str(folder))
    if str(program.folders[-1]) not in sys.path:
        sys.path.append(str(program.folders[-1]))


def run_options(cls: type[Reactor]) -> dict[str, Any]:
    """What the file of a loaded class asks of `run` by its target properties: timeout, fast, keepalive, workers.

    >>> run_options(Reactor)
    {}
    """
    blueprint: Blueprint | None = getattr(cls, "__lf__", None)
    if blueprint is None:
        return {}
    found: dict[str, Any] = {}
    for entry in blueprint.properties.values():
        if entry.name in OPTIONS:
            if not isinstance(entry.value, OPTIONS[entry.name]):
                where = f"{blueprint.address[0]}:{entry.line}"
                raise ElaborationError([f"{where}: the target property {entry.name} cannot be {entry.value!r}"])
            found[entry.name] = entry.value
    if not found.get("workers", 1):
        del found["workers"]  # as many as suit the machine
    return found
