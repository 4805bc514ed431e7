"""The files of a Lingua Franca program: read, parsed, imports followed, names of reactors looked up. Makes no class."""

from __future__ import annotations

from pathlib import Path

from reactorlib import ElaborationError
from reactorlib.errors import did_you_mean
from reactorlib.lf.parser import parse
from reactorlib.lf.syntax import File, Import, ReactorTree, repeated

_PACKAGES = ("build/lfc_include", "lf-packages", ".")  # in the folders above a program
_IN_PACKAGES = ("src/lib", "src", ".")


class Files:
    """A file and all that it imports, imported files first. Raises ElaborationError with all faults of all of them."""

    def __init__(self, path: Path) -> None:
        self.faults: list[str] = []
        self.files: dict[Path, File] = {}
        self._reading: set[Path] = set()
        self._paths: dict[str, Path] = {}  # by their names in faults: a preamble may change the working directory
        self._read(path.resolve(), path)
        if not self.faults:
            self.main = self.files[path.resolve()]
            for file in self.files.values():
                for imported in file.imports:
                    self._check_names(imported, self._imported(file, imported))
        if self.faults:
            raise ElaborationError(self.faults)

    def _read(self, path: Path, shown: Path) -> None:
        self._reading.add(path)
        self._paths[str(shown)] = path
        try:
            file = parse(path.read_text(encoding="utf-8-sig"), str(shown))
        except ElaborationError as error:
            self.faults += error.faults
            return
        except (OSError, UnicodeDecodeError) as error:
            self.faults.append(f"{shown} cannot be read: {error}")
            return
        for imported in file.imports:
            found = _located(path, imported)
            if found is None:
                written = f"<{imported.path}>" if imported.package else f"{imported.path!r}"
                self.faults.append(f"{imported.where}: import: no file {written}")
            elif found not in self._reading:
                self._read(found, found)
        self.files[path] = file
        # Every reactor of a file, imported or not, has a name of its own, and one of them is the main one.
        declared = [(name, imported.where) for imported in file.imports for name in imported.names]
        declared += [(reactor.name, reactor.where) for reactor in file.reactors]
        declared += [("the main reactor", reactor.where) for reactor in file.reactors if reactor.is_main]
        for name, place, line in repeated(declared):
            self.faults.append(f"{place}: {name} is defined in line {line} already")

    def _check_names(self, imported: Import, file: File) -> None:
        there = {reactor.name for reactor in file.reactors}
        for name in imported.names.values():
            if name not in there:
                words = f"{imported.path} has no reactor {name!r}{did_you_mean(name, there)}"
                self.faults.append(f"{imported.where}: import: {words}")

    def _imported(self, file: File, imported: Import) -> File:
        found = _located(self._paths[file.path], imported)
        assert found is not None
        return self.files[found]

    def find(self, file: File, name: str) -> ReactorTree | None:
        """The reactor that a name stands for in a file: its own, or an imported one."""
        for reactor in file.reactors:
            if reactor.name == name:
                return reactor
        for imported in file.imports:
            if name in imported.names:
                return self.find(self._imported(file, imported), imported.names[name])
        return None

    def file_of(self, reactor: ReactorTree) -> File:
        """The file in which the names that a reactor uses are looked up."""
        return self.files[self._paths[reactor.path]]


def _located(path: Path, imported: Import) -> Path | None:
    """The file that an import names: beside the importing one, or in a package above it."""
    package, _, rest = imported.path.partition("/")
    found = [path.parent / imported.path]
    if imported.package:
        kinds = [f"{packages}/{package}/{inner}" for packages in _PACKAGES for inner in _IN_PACKAGES]
        places = [above / kind for above in path.parents for kind in kinds]
        found = [place / rest if rest else _default(place, package) for place in places]
    return next((file.resolve() for file in found if file.is_file()), None)


def _default(folder: Path, package: str) -> Path:
    """The file of a package that is imported by its name alone: the one with that name, else its only one."""
    there = sorted(folder.glob("*.lf"))
    alike = [file for file in there if _plain(file.stem) in (_plain(package), "lib")]
    return next(iter(alike), there[0] if len(there) == 1 else folder)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
