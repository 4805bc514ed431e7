"""Code of a user's own that is named by its path: a backend, an actor system, or the folder of a workload."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from workloads.parameter import ParameterError

# Where things from outside are, by the names that rows have: `file.py:run` or `folder`, and the absolute path.
PLACES: dict[str, str] = {}


def entered(text: str) -> str:
    """The name of what a command line names by a path, which is entered in PLACES. Other words stay as they are.

    Raises ParameterError where another path has the same name.
    """
    path, colon, inner = text.rpartition(":")
    if not (path.endswith(".py") or (os.sep in text and not colon)):
        return text
    found = Path(path or inner).resolve()
    name, place = (f"{found.name}:{inner}", f"{found}:{inner}") if colon else (found.name, str(found))
    if PLACES.setdefault(name, place) != place:
        raise ParameterError(f"{text}: {PLACES[name]} has the same name; rename one of the two")
    return name


def reach(places: Mapping[str, str]) -> None:
    """Enter these places, and let processes that start later import what is there."""
    PLACES.update(places)
    for place in places.values():
        beside = str(Path(place).parent)
        if beside not in sys.path:
            sys.path.append(beside)
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), beside)))
    importlib.invalidate_caches()


def module(path: Path) -> ModuleType:
    """Import a file, or the folder of a package, under its own name.

    Processes that this one starts later can import it by that name, and so unpickle objects of its classes. Raises
    ParameterError if the file is missing or can't be imported, or if another module has its name.
    """
    if not path.exists():
        raise ParameterError(f"{path}: there is no such file or folder")
    reach(PLACES)
    found = importlib.util.find_spec(path.stem)
    places = [] if found is None else [found.origin, *(found.submodule_search_locations or ())]
    if str(path) not in places:
        raise ParameterError(f"{path}: another module is called {path.stem}; give it another name")
    try:
        return importlib.import_module(path.stem)
    except Exception as error:
        from reactorlib.tool import user_module  # not where workloads are only listed

        raise ParameterError(user_module.failure(str(path), error)) from error


def named(name: str) -> object:
    """The function or class with a name of PLACES, such as file.py:run. Raises ParameterError if its file lacks it."""
    path, _, inner = PLACES[name].rpartition(":")
    if not path:
        raise ParameterError(f"{inner}: name a function or a class in it, as in {name}:run")
    try:
        found: object = getattr(module(Path(path)), inner)
    except AttributeError:
        raise ParameterError(f"{path} has no {inner}") from None
    return found
