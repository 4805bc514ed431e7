"""Functions whose source is written while a program runs: schedules, codecs and messages."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import SimpleNamespace
from typing import Any
from zlib import crc32

_FOR_TRACEBACKS = ("__name__", "__loader__", "__spec__")


def loaded(title: str, text: str, objects: Mapping[str, Any], name: str = "function") -> Any:
    """The function `name` that a text defines. The text calls objects by the names that they have here.

    Tracebacks show its lines, under the title. `linecache` asks the loader for them, so the text lives no longer than
    the function and its tracebacks. Texts with one title are different files: another run may have the same title.
    """
    file = f"{title} [{crc32(text.encode()):08x}]"  # `linecache` asks no loader for a name in angle brackets
    loader: Any = SimpleNamespace(get_source=lambda _name: text)
    shown = (file, loader, ModuleSpec(file, loader))
    namespace: dict[str, Any] = {**objects, **dict(zip(_FOR_TRACEBACKS, shown, strict=True))}
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


def emptied(function: Any) -> None:
    """Make a function let its objects go, as free-threaded Python 3.13 never frees a function.

    Tracebacks still show its lines.
    """
    objects = function.__globals__
    for name in objects.keys() - _FOR_TRACEBACKS:
        del objects[name]
