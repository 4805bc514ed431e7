"""How worker processes start: as the caller asks, otherwise by the rule in docs/guide/executors.md.

Native threads do not count, as the pools of OpenBLAS and torch are limited to one thread in a forked worker.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import pickle
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reactorlib.errors import RunError, WorkerError

VARIABLE = "REACTORLIB_START_METHOD"
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_warned: set[tuple[str, int]] = set()  # lines
_INTERPRETERS_WARNING = r".*multi-threaded, use of fork\(\) may lead to deadlocks"


def choose_start_method(asked: str | None, obstacle: Callable[[], str | None]) -> str:
    """Choose "fork", "spawn" or "forkserver". `obstacle` says why a new process cannot make the program."""
    known = multiprocessing.get_all_start_methods()
    set_for_all = multiprocessing.get_start_method(allow_none=True)
    # The first use of multiprocessing also sets the default, so the default is nobody's choice.
    chosen = asked or os.environ.get(VARIABLE) or (set_for_all if set_for_all != known[0] else None)
    if chosen:
        if chosen not in known:
            raise RunError(f"unknown start method {chosen!r}: one of {', '.join(known)}")
        return chosen
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    fault = obstacle() if others else None
    if fault is None:
        return "forkserver" if others else "fork"
    names = [thread.name for thread in others if not _is_of_notebook(thread)]
    if names:
        _warn_once(
            f"worker processes are forked next to other threads ({', '.join(names[:3])}), since {fault}. A lock that "
            "such a thread holds stays locked in the workers, and a worker that takes it waits for ever. Start the "
            "workers before the threads. If the workers take no such lock, choose the start method 'fork' or set "
            f"{VARIABLE}=fork"
        )
    return "fork"


def _is_of_notebook(thread: threading.Thread) -> bool:
    """Whether a Jupyter kernel runs this thread. Every notebook has some, and they hold no lock of the user's."""
    target = getattr(thread, "_target", None) or thread
    module = getattr(target, "__module__", None) or ""  # a method in C has None
    return module.partition(".")[0] in ("ipykernel", "IPython")


def _warn_once(text: str) -> None:
    """Warn at the line that called this package. The interpreter forgets it at each fork: see `forking_knowingly`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    line = frame.f_code.co_filename, frame.f_lineno
    if line not in _warned:
        warnings.warn_explicit(text, RuntimeWarning, *line)
        _warned.add(line)  # not where warnings are errors


def pickled_program(cls: type, parameters: Mapping[str, Any]) -> bytes:
    """The pair from which another process makes the program `cls(**parameters)`. WorkerError if it cannot travel."""
    try:
        return pickle.dumps((cls, dict(parameters)))
    except Exception as error:
        raise WorkerError(
            f"{cls.__qualname__} cannot be sent to another process: {error}. Define its class at the top level of a "
            "module and give it parameters that can be pickled"
        ) from error


def obstacle_to_rebuilding(cls: type, parameters: Mapping[str, Any]) -> str | None:
    """The reason why a new process cannot make the program `cls(**parameters)`. None if it can."""
    if cls.__module__ == "__main__":
        return f"{cls.__qualname__} is defined in __main__"
    try:
        data = pickled_program(cls, parameters)
    except WorkerError as error:
        return str(error)
    if b"__main__" in data:
        return f"a parameter of {cls.__qualname__} is defined in __main__"
    return None if _is_main_importable() else 'the main script has no `if __name__ == "__main__"`'


def _is_main_importable() -> bool:
    """Whether a new process can import the main script without running the program a second time."""
    path = getattr(sys.modules["__main__"], "__file__", None)
    if path is None:  # -c, standard input, a notebook: a new process imports nothing
        return True
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    tests = (node.test for node in tree.body if isinstance(node, ast.If))
    return any(isinstance(node, ast.Name) and node.id == "__name__" for test in tests for node in ast.walk(test))


@contextmanager
def forking_knowingly() -> Iterator[None]:
    """Keep the interpreter's warning of a fork next to threads from ending the fork halfway.

    `choose_start_method` has warned before. Where warnings are errors, Python 3.15 raises this one in the parent, and
    nobody would know the new process.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _INTERPRETERS_WARNING, DeprecationWarning)
        yield
