"""The files of a Lingua Franca program: read, parsed, imports followed, names of reactors looked up. Makes no class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from reactorlib.errors import ElaborationError
from reactorlib.lf.expressions import hint
from reactorlib.lf.parser import parse
from reactorlib.lf.syntax import File, Import, Reactor

_PACKAGES = ("build/lfc_include", "lf-packages", ".")  # in the folders above a program
_IN_PACKAGES = ("src/lib", "src", ".")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One file; `path` is how its faults name it."""

    path: str
    tree: File


class Definition(NamedTuple):
    """A reactor definition and the file in which the names that it uses are looked up."""

    source: Source
    reactor: Reactor

    @property
    def name(self) -> str:
        return self.reactor.name or Path(self.source.path).stem


class Files:
    """A file and all that it imports, imported files first. Raises ElaborationError with all faults of all of them."""

    def __init__(self, path: Path) -> None:
        self.faults: list[str] = []
        self.sources: dict[Path, Source] = {}
        self._reading: set[Path] = set()
        self._read(path, path)
        if self.faults:
            raise ElaborationError(self.faults)
        self.main = self.sources[path]
        for source in self.sources.values():
            for imported in source.tree.imports:
                self._check_names(source, imported)
        if self.faults:
            raise ElaborationError(self.faults)

    def _read(self, path: Path, shown: Path) -> None:
        self._reading.add(path)
        try:
            tree = parse(path.read_text(encoding="utf-8"), str(shown))
        except ElaborationError as error:
            self.faults += error.faults
            return
        except (OSError, UnicodeDecodeError) as error:
            self.faults.append(f"{shown} cannot be read: {error}")
            return
        for imported in tree.imports:
            found = _located(path, imported)
            if found is None:
                written = f"<{imported.path}>" if imported.package else f"{imported.path!r}"
                self.faults.append(f"{shown}:{imported.line}: import: no file {written}")
            elif found not in self._reading:
                self._read(found, found)
        self.sources[path] = Source(str(shown), tree)
        self._check_definitions(self.sources[path])

    def _check_definitions(self, source: Source) -> None:
        """Every reactor of a file has a name of its own, and one of them is the main one."""
        lines: dict[str, int] = {}
        for definition in self.reactors(source):
            roles = ["the main reactor"] if definition.reactor.main else []
            for name in (definition.name, *roles):
                line = definition.reactor.line
                if name in lines:
                    self.faults.append(f"{source.path}:{line}: {name} is defined in line {lines[name]} already")
                lines.setdefault(name, line)

    def _check_names(self, source: Source, imported: Import) -> None:
        there = {reactor.name for reactor in self._imported(source, imported).tree.reactors}
        for name in imported.names.values():
            if name not in there:
                where = f"{source.path}:{imported.line}"
                self.faults.append(f"{where}: import: {imported.path} has no reactor {name!r}{hint(name, there)}")

    def _imported(self, source: Source, imported: Import) -> Source:
        found = _located(Path(source.path), imported)
        assert found is not None
        return self.sources[found]

    def reactors(self, source: Source) -> Iterator[Definition]:
        """What a file defines itself."""
        return (Definition(source, reactor) for reactor in source.tree.reactors)

    def find(self, source: Source, name: str) -> Definition | None:
        """The definition that a name stands for in a file: its own, or an imported one."""
        for definition in self.reactors(source):
            if definition.reactor.name == name:
                return definition
        for imported in source.tree.imports:
            if name in imported.names:
                return self.find(self._imported(source, imported), imported.names[name])
        return None

    def known(self, source: Source) -> list[str]:
        """All names that stand for reactors in a file."""
        imported = [name for statement in source.tree.imports for name in statement.names]
        return [*(reactor.name for reactor in source.tree.reactors), *imported]


def _located(path: Path, imported: Import) -> Path | None:
    """The file that an import names: beside the importing one, or in a package above it."""
    if not imported.package:
        found = (path.parent / imported.path).resolve()
        return found if found.is_file() else None
    package, _, rest = imported.path.partition("/")
    for above in path.resolve().parents:
        for place in (above / packages / package / inner for packages in _PACKAGES for inner in _IN_PACKAGES):
            found = place / rest if rest else _default(place, package)
            if found.is_file():
                return found
    return None


def _default(folder: Path, package: str) -> Path:
    """The file of a package that is imported by its name alone: the one with that name, else its only one."""
    there = sorted(folder.glob("*.lf"))
    alike = [file for file in there if _plain(file.stem) in (_plain(package), "lib")]
    return next(iter(alike), there[0] if len(there) == 1 else folder)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
