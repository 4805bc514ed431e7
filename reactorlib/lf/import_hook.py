"""`import` of Lingua Franca files, on request: a module whose attributes are the reactors of a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from reactorlib.lf.load import free_name, loaded


class _Finder:
    """Finds `Name.lf` in the directories of the path, after Python's own finders found nothing."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None) -> ModuleSpec | None:
        for directory in sys.path if path is None else path:
            file = Path(directory or ".", f"{name.rpartition('.')[2]}.lf")
            if file.is_file():
                return spec_from_file_location(name, file, loader=_Loader(file))
        return None


class _Loader(Loader):
    def __init__(self, path: Path) -> None:
        self.path = path

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(loaded(self.path, free_name(self.path), structure=False).classes)


def install() -> None:
    """Let `import Name` find `Name.lf` on the path, where there is no Python module of that name.

    >>> install()
    >>> sum(finder is _Finder for finder in sys.meta_path)
    1
    """
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)
