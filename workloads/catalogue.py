"""Which workloads and backends exist, and how one of each is run. Imports neither until it is used."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workloads.parameter import ParameterError, build, unknown
from workloads.probe import Outcome, Probe


@dataclass(frozen=True)
class Workload:
    """A workload: `module` is the package that holds its task and its backends."""

    name: str
    summary: str

    @property
    def module(self) -> str:
        """The package of this workload."""
        return f"workloads.{self.name}"

    @property
    def task_module(self) -> str:
        """The module that holds `Task`."""
        return f"{self.module}.task"

    def task_class(self) -> Any:
        """The class `Task` of this workload, whose fields are its parameters."""
        return importlib.import_module(self.task_module).Task


@dataclass(frozen=True)
class Backend:
    """A way to run every workload: the module in the workload's package, and options for its `run`."""

    name: str
    summary: str
    module: str
    options: Mapping[str, Any] = field(default_factory=dict)


_WORKLOADS = (
    Workload("broadcast_gather", "a large array to every worker and a copy back from each"),
    Workload("gym_sampling", "classic Gymnasium environments, one per worker, stepped at random"),
    Workload("atari_sampling", "Atari environments, one per worker, full RGB frames in every reply"),
    Workload("q_learning", "rollout workers, a replay buffer and a learner on Blackjack"),
    Workload("multi_agent", "Traffic Junction with one policy network, in its own worker, per agent"),
    Workload("overhead", "actor micro-benchmarks: the cost of one message or reaction"),
)
_BACKENDS = (
    Backend("serial", "the plain Python loop", "on_serial"),
    Backend("reactor-inline", "reactorlib in one thread", "on_reactors", {"executor": "inline"}),
    Backend("ray-paper", "Ray actors as the paper calls them", "on_ray", {"style": "paper"}),
    Backend("ray-tuned", "Ray actors as Ray's own advice has them", "on_ray", {"style": "tuned"}),
)

WORKLOADS: dict[str, Workload] = {workload.name: workload for workload in _WORKLOADS}
BACKENDS: dict[str, Backend] = {backend.name: backend for backend in _BACKENDS}


def make_task(workload: str, parameters: Mapping[str, Any]) -> Any:
    """The task of a workload with these parameters; raises ParameterError for what is unknown or wrong."""
    if workload not in WORKLOADS:
        raise ParameterError(unknown("workload", workload, WORKLOADS))
    return build(WORKLOADS[workload].task_class(), parameters)


def execute(workload: str, backend: str, parameters: Mapping[str, Any], *, verify: bool) -> Outcome:
    """Run a workload once in this process. Importing the framework is not part of the start-up time.

    Raises ParameterError before anything starts, and whatever the backend raises.
    """
    task = make_task(workload, parameters)
    if backend not in BACKENDS:
        raise ParameterError(unknown("backend", backend, BACKENDS))
    chosen = BACKENDS[backend]
    module = importlib.import_module(f"{WORKLOADS[workload].module}.{chosen.module}")
    probe = Probe(task.rounds, task.warmup_rounds, verify)
    module.run(task, probe, **chosen.options)
    return probe.outcome()
