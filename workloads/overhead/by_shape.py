"""Where a backend's code for each shape lies: in the shape's folder, in a module named like the backend's."""

import importlib
import importlib.util
from types import ModuleType

from workloads.overhead.task import SHAPES


def by_shape(backend: str) -> dict[str, ModuleType]:
    """The module of a backend for every shape that it has, imported; each has a `run`."""
    names = {shape: f"{__package__}.{shape}.{backend}" for shape in SHAPES}
    return {shape: importlib.import_module(name) for shape, name in names.items() if importlib.util.find_spec(name)}
