"""Modules of the user that a tool imports: run once, complete for every thread, apart from the tool's command line."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from types import ModuleType
from typing import Any

_running = threading.RLock()  # while a module runs: `sys.modules` has it before it is complete


def module(name: str, file: Path | None = None) -> ModuleType:
    """The module of this name, or of a file, which gets this name. The first call runs it; other threads wait."""
    with _running, _own_arguments(str(file or name)):
        if file is None:
            return importlib.import_module(name)
        if name not in sys.modules:
            spec: Any = importlib.util.spec_from_file_location(name, file)  # not None, as the file ends with .py
            sys.modules[name] = importlib.util.module_from_spec(spec)  # before it runs: dataclasses and pickle look
            try:
                spec.loader.exec_module(sys.modules[name])
            except BaseException:
                del sys.modules[name]
                raise
        return sys.modules[name]


def of_file(path: Path) -> ModuleType:
    """The module of a file, which is called as its file is, unless another module is called so, such as `random`."""
    names = chain([path.stem], (f"{path.stem}_program{number or ''}" for number in count()))
    loaded = ((name, sys.modules.get(name)) for name in names)
    return module(next(name for name, of in loaded if of is None or getattr(of, "__file__", None) == str(path)), path)


@contextmanager
def _own_arguments(program: str) -> Iterator[None]:
    """A module may parse `sys.argv` when it is imported. The arguments of the tool are not meant for it."""
    outer, sys.argv = sys.argv, [program]
    try:
        yield
    finally:
        sys.argv = outer


def failure(place: str, error: BaseException) -> str:
    """Why the module of this name or file cannot be imported, and what to change, in one line."""
    if isinstance(error, FileNotFoundError) and error.filename in (place, str(Path(place).resolve())):
        return f"no file {place}"
    at = _line(place, error, within=isinstance(error, SystemExit))
    if isinstance(error, SystemExit):
        remedy = 'put what only a script does under if __name__ == "__main__":'
        return f"{place} ends the program when it is imported{at}: {remedy}"
    named = isinstance(error, ModuleNotFoundError | SyntaxError)  # the message says where
    words = " ".join(": ".join(word for word in (type(error).__name__, str(error)) if word).split())
    return f"{place} cannot be imported: {words}{'' if named else at}{_package_hint(place, error)}"


def _line(place: str, error: BaseException, *, within: bool) -> str:
    """The last line that ran before an error, or `within` the module itself."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<frozen")]
    own = [frame for frame in frames if Path(frame.filename).resolve() == Path(place).resolve()]
    at = ((own if within else frames) or frames)[-1:]
    return "".join(f" ({frame.filename}:{frame.lineno})" for frame in at)


def _package_hint(place: str, error: BaseException) -> str:
    """The name by which a file of a package can be imported, if it was the file that failed for want of it."""
    if not isinstance(error, ImportError) or "relative import" not in str(error) or not place.endswith(".py"):
        return ""
    root, names = Path(place).resolve().parent, [Path(place).stem]
    while (root / "__init__.py").exists():
        root, names = root.parent, [root.name, *names]
    if len(names) == 1:
        return "; only a file of a package, a folder with an __init__.py, has relative imports"
    return f"; name the module instead of the file, {'.'.join(names)}, with PYTHONPATH={root}"
