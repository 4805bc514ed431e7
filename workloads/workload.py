"""Which workloads exist: a folder each, whose `facts.toml` describes it. Imports none until it is used."""

import importlib
import importlib.util
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workloads import outside
from workloads.parameter import ParameterError, build, unknown

_FACTS = "facts.toml"


@dataclass(frozen=True)
class Workload:
    """A workload, which is a folder: `module` is the package that holds its task and its backends.

    The other fields are in its `facts.toml`. `place`: its number in lists. `title`: its name in figures. `points`: for
    each preset the sweeps of its parameters, see `harness.plan.presets`. `parts`: modules of the package that take long
    to import, so that its task imports them only when it makes something. A runner imports them before the clock
    starts. `verify_rounds`: how many rounds prove a backend right before its first trial. That is enough for rare
    events, such as the end of an episode, and takes less time than a trial. `programs`: the workload whose backends it
    runs, where it has none of its own. Then the two differ in the environments that their tasks make. `claim`: of the
    paper, a `text` and by each of its `figures` the parameter of the axis, and the parameters that all points there
    share. A point that lacks one of these had no choice.
    """

    name: str
    module: str
    place: int
    title: str
    summary: str
    points: Mapping[str, Sequence[Mapping[str, Any]]]
    parts: Sequence[str] = ()
    verify_rounds: int = 12
    programs: str = ""
    claim: Mapping[str, Any] = field(default_factory=dict)

    def task_class(self) -> Any:
        """The class `Task` of this workload, whose fields are its parameters."""
        return importlib.import_module(f"{self.module}.task").Task

    def program(self, name: str) -> str | None:
        """Where the module of a backend is that this workload runs; None where there is none."""
        packages = [self.module, *([workload_of(self.programs).module] if self.programs else [])]
        names = (f"{package}.{name}" for package in packages)
        return next((one for one in names if importlib.util.find_spec(one) is not None), None)


def _of_folder(folder: Path, name: str, module: str) -> Workload:
    facts = tomllib.loads((folder / _FACTS).read_text(encoding="utf-8"))
    return Workload(name, module, **facts)


_FOUND = [
    _of_folder(path.parent, path.parent.name, f"workloads.{path.parent.name}")
    for path in Path(__file__).parent.glob(f"*/{_FACTS}")
]
WORKLOADS: dict[str, Workload] = {one.name: one for one in sorted(_FOUND, key=lambda one: one.place)}


def workload_of(name: str) -> Workload:
    """A workload of the suite, or from outside (see `outside.PLACES`), by its name. Raises ParameterError."""
    if name in outside.PLACES and name in WORKLOADS and WORKLOADS[name].module == f"workloads.{name}":
        raise ParameterError(f"workload: {name} is one of the suite; give the folder another name")
    if name not in WORKLOADS and name in outside.PLACES:
        folder = Path(outside.PLACES[name])
        try:
            WORKLOADS[name] = _of_folder(folder, name, outside.module(folder).__name__)
        except (OSError, TypeError, ValueError) as error:
            raise ParameterError(f"workload: {folder} has no {_FACTS} of a workload: {error}") from None
    if name not in WORKLOADS:
        raise ParameterError(unknown("workload", name, WORKLOADS))
    return WORKLOADS[name]


def make_task(workload: str, parameters: Mapping[str, Any]) -> Any:
    """The task of a workload with these parameters; raises ParameterError for what is unknown or wrong."""
    return build(workload_of(workload).task_class(), parameters)
