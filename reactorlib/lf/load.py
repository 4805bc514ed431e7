"""From a path to a reactor class: files read, preambles run, classes made, every fault reported together."""

from __future__ import annotations

import ast
import copyreg
import re
import sys
import weakref
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from reactorlib import ElaborationError, Reactor, Time
from reactorlib.lf.blueprint import warn
from reactorlib.lf.bodies import execute, statements
from reactorlib.lf.files import Files
from reactorlib.lf.names import new_module, package_of
from reactorlib.lf.syntax import File, Method, codes
from reactorlib.lf.translate import LfProgram, Translation

LOADED = "<loaded>"  # the name, in a program's module, of the LfProgram that it belongs to
OPTIONS = {"timeout": Time, "fast": bool, "keepalive": bool, "workers": int}  # target properties that `run` takes
ONE_PROGRAM = "lf.stop() ends one federate of several; here one program runs all federates"
KNOWN: dict[str, type] = {**OPTIONS, "single-threaded": bool, "threading": bool, "files": object}  # types of values
PACKAGE_OF = {"cv2": "opencv-python", "PIL": "pillow", "sklearn": "scikit-learn", "yaml": "pyyaml", "zmq": "pyzmq",
              "serial": "pyserial", "ale_py": "ale-py", "gym": "gym (or gymnasium, its successor)"}  # fmt: skip


def load(path: str | Path, reactor: str | None = None, *, structure: bool | None = False) -> type[Reactor]:
    """The main reactor of a Lingua Franca file, or the one of that name, as a reactor class.

    Its parameters are the reactor's; `run_options` gives what its target properties ask of `run`. With `structure` all
    code is left out (with None, where the target is not Python), so that any program can be drawn and checked. Raises
    ElaborationError with all faults of all files. Warns of properties without a meaning here: LinguaFrancaWarning.

    >>> import pathlib, tempfile
    >>> from reactorlib import run
    >>> from reactorlib.lf import load
    >>> path = pathlib.Path(tempfile.mkdtemp(), "Hello.lf")
    >>> _ = path.write_text('target Python main reactor(who="") { reaction(startup) {= print("hello", self.who) =} }')
    >>> result = run(load(path), who="world")
    hello world
    """
    path = Path(path)
    names = (f"{path.stem}-lf{f'-{number}' if number else ''}" for number in count())
    free = next(name for name in names if name not in sys.modules)  # which no import statement can mean
    return load_as(path, free, reactor, structure)


def load_as(path: str | Path, module: str, reactor: str | None, structure: bool | None) -> type[Reactor]:
    """`load` into a module of that name, or from the one there is: what the pickle of a class asks for."""
    there = vars(sys.modules[module]).get(LOADED, lambda: None)() if module in sys.modules else None
    return (there or loaded(Path(path), module, structure)).chosen(reactor)


def _pickled(cls: Any) -> Any:
    """How a class of reactors travels: by its name, or, made from Lingua Franca, by its file."""
    return (load_as, vars(cls)["__lf__"].address) if "__lf__" in vars(cls) else cls.__qualname__


copyreg.pickle(type(Reactor), _pickled)


def loaded(path: Path, module: str, structure: bool | None) -> LfProgram:
    """A file whose reactors have become classes. Raises ElaborationError."""
    files = Files(path)
    target = files.main.target
    is_python = target.lower() in ("python", "py")
    structure = not is_python if structure is None else structure
    if not structure and not is_python:
        words = "and only bodies in Python run here: its structure can be drawn and checked"
        raise ElaborationError([f"{path}: its target is {target}, {words}"])
    names = None if structure else new_module(module, path.resolve())
    program = LfProgram(path, files, names)
    try:
        if names is not None:
            _prepare(program, vars(names))
        program.make()
        if names is not None:  # pickles find the program as long as one of its classes lives
            vars(names)[LOADED] = weakref.ref(program, partial(sys.modules.pop, module))
    except BaseException:
        sys.modules.pop(module, None)
        raise
    return program


def _prepare(program: LfProgram, names: dict[str, Any]) -> None:
    """Make the files that the program names importable, and run the preambles of all files, imported ones first."""
    _find_files(program)
    federated = [reactor for reactor in program.files.main.reactors if "federated" in reactor.kinds]
    for file in program.files.files.values():
        _refuse_missing(program, file)
        for code in codes(file) if federated else ():
            if re.search(r"\blf\s*\.\s*stop\s*\(", code.text):
                program.fault(f"{file.path}:{code.line}", ONE_PROGRAM)
    if program.faults:
        raise ElaborationError(program.faults)
    for file in program.files.files.values():
        for preamble in file.preambles:
            with program.noting():
                execute(preamble.code, names, names)
    for entry in program.files.main.properties:
        if entry.name not in KNOWN:
            warn(f"the target property {entry.name!r} has no meaning here", entry.where)
        elif not _can_be(entry.name, entry.value):
            program.fault(entry.where, f"the target property {entry.name} cannot be {entry.value!r}")
    for reactor in federated:
        warn("the federates run as one program with one logical time; there is no RTI", reactor.where)


def _can_be(name: str, value: Any) -> bool:
    """Whether a target property can have this value. A time of 0 needs no unit."""
    kind: Any = KNOWN[name]
    if kind is Time and type(value) is int:
        return value == 0
    return kind is object or (type(value) is kind and bool(value >= 0))


def _refuse_missing(program: LfProgram, file: File) -> None:
    """Note the modules that preambles import and that are not installed. An import within `try` may fail."""
    members = [member for reactor in file.reactors for member in reactor.members]
    for preamble in (*file.preambles, *(m for m in members if isinstance(m, Method) and not m.name)):
        found: list[ast.stmt] = []
        with suppress(SyntaxError, ValueError, MemoryError, RecursionError):  # which are faults of their own
            found = statements(preamble.code)
        for statement in found:
            names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
            if isinstance(statement, ast.ImportFrom) and not statement.level:
                names = [str(statement.module)]
            for name in dict.fromkeys(name.partition(".")[0] for name in names):
                if name not in sys.modules and find_spec(name) is None:
                    words = f"no module {name!r} is installed: pip install {PACKAGE_OF.get(name, name)}"
                    program.fault(f"{file.path}:{preamble.code.line + statement.lineno - 2}", words)


def _find_files(program: LfProgram) -> None:
    """Let Python files beside the file that names them, or beside its package, be imported before installed ones."""
    for path, file in program.files.files.items():
        for entry in file.properties:
            names = entry.value if isinstance(entry.value, list) else [entry.value]
            for name in names if entry.name == "files" else []:
                places = [at / str(name) for at in (path.parent, package_of(path)) if (at / str(name)).exists()]
                folders = [place.parent for place in places] + [place for place in places if place.is_dir()]
                sys.path[:0] = [str(folder) for folder in folders if str(folder) not in sys.path]
    if str(path.parent) not in sys.path:  # of the main file, the last one
        sys.path.append(str(path.parent))


def run_options(cls: type[Reactor]) -> dict[str, Any]:
    """Options for `run` from the target properties of a loaded class: timeout, fast, keepalive, workers."""
    translation: Translation | None = getattr(cls, "__lf__", None)
    if translation is None:
        return {}
    asked = (entry for entry in translation.properties.values() if entry.name in OPTIONS)
    found: dict[str, Any] = {entry.name: OPTIONS[entry.name](entry.value) for entry in asked}
    if not found.get("workers", 1):
        del found["workers"]  # as many as suit the machine
    return found
