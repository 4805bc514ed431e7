"""Which workloads and backends exist, and how one of each is run. Imports neither until it is used."""

import importlib
import importlib.util
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from workloads import outside
from workloads.parameter import ParameterError, UnsupportedError, build, unknown
from workloads.probe import Outcome, Probe


@dataclass(frozen=True)
class Workload:
    """A workload, which is a folder: `module` is the package that holds its task and its backends.

    The other fields are in its `facts.toml`. `place`: its number in lists. `title`: its name in figures. `points`: for
    each preset the sweeps of its parameters, see `harness.plan.presets`. `parts`: modules of the package that take long
    to import, so that its task imports them only when it makes something. A runner imports them before the clock
    starts. `verify_rounds`: how many rounds prove a backend right before its first trial. That is enough for rare
    events, such as the end of an episode, and takes less time than a trial. `programs`: the workload whose backends it
    runs, where it has none of its own. Then the two differ in the environments that their tasks make.
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

    @property
    def task_module(self) -> str:
        """The module that holds `Task`."""
        return f"{self.module}.task"

    def task_class(self) -> Any:
        """The class `Task` of this workload, whose fields are its parameters."""
        return importlib.import_module(self.task_module).Task

    def program(self, name: str) -> str | None:
        """Where the module of a backend is that this workload runs; None where there is none."""
        packages = [self.module, *([workload_of(self.programs).module] if self.programs else [])]
        names = (f"{package}.{name}" for package in packages)
        return next((one for one in names if importlib.util.find_spec(one) is not None), None)


def _of_folder(folder: Path, name: str, module: str) -> Workload:
    facts = tomllib.loads((folder / _FACTS).read_text(encoding="utf-8"))
    return Workload(name, module, **facts)


@dataclass(frozen=True)
class Backend:
    """A way to run the workloads that have the module in their package; `options` are for its `run`.

    `note`: what to know about its numbers before comparing them. `matched`: whether it computes exactly what the
    serial loop does, so that their digests are equal. If not, the note says what differs. `role`: "main" for what the
    suite compares, "peer" for what stands beside it, "limit" for the reference ceiling, which is no bound.
    `kind`: shared by those that wait and run alike though they have modules of their own. `on_two_nodes`: half of the
    workers are on another node, made of this machine's namespaces (see two_nodes). `interpreter`: the one that it runs
    on, such as FREE_THREADED, or empty for the suite's own.
    """

    name: str
    summary: str
    module: str
    options: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    matched: bool = True
    role: str = "main"
    kind: str = ""
    on_two_nodes: bool = False
    interpreter: str = ""


_FACTS = "facts.toml"
# Interpreters beside the suite's own: one without a GIL, and one with RLlib, which needs another Gymnasium.
PACKAGES = ("ale_py", "gymnasium", "pettingzoo", "ray", "torch")  # modules of the extra `workloads`
FREE_THREADED = "free-threaded"
RLLIB = "rllib"
_NOGIL = "-nogil"
_WITHOUT_A_GIL = (
    "serial", "reactor-inline", "reactor-threads", "reactor-processes", "reactor-vector", "lockstep",
    "lockstep-threads",
)  # fmt: skip
# Modules whose members have a worker each. Those of all others have one per core.
_A_WORKER_FOR_EACH = ("on_ray_paper", "on_sb3", "on_torchrl", "on_tianshou")
_LINK = "two nodes of one machine, joined by a virtual link: their ratio counts, not their speed"
_BACKENDS = (
    Backend("serial", "the plain Python loop", "on_serial"),
    Backend("reactor-inline", "reactorlib in one thread", "on_reactors", {"executor": "inline"}),
    Backend("reactor-threads", "reactorlib on one thread per core", "on_reactors", {"executor": "threads"}),
    Backend("reactor-processes", "reactorlib on one process per core", "on_reactors", {"executor": "processes"}),
    Backend(
        "reactor-mpi",
        "reactorlib on one rank of MPI per core",
        "on_reactors",
        {"executor": "mpi"},
        note="ranks that share a machine poll for messages, which costs processor time; needs the extra `mpi`",
        role="peer",
    ),
    Backend("ray-paper", "Ray actors as the paper calls them", "on_ray_paper", kind="ray"),
    Backend(
        "ray-pooled",
        "Ray actors, tuned: the workers in shares, one per core, of which the driver holds the first",
        "on_actors",
        {"system": "ray-pooled"},
        note="one call per actor and round asks all workers of its share. Their replies come in one message. Each "
        "worker still takes steps_per_message steps",
        kind="ray",
    ),
    Backend(
        "ray-pooled-compiled",
        "Ray actors, tuned: shares as in ray-pooled, all calls of a round in a compiled graph",
        "on_actors",
        {"system": "ray-pooled-compiled"},
        note="Ray keeps compiled graphs in maintenance only. One actor per core, except the driver's, spins for the "
        "next message",
        kind="ray-graph",
    ),
    Backend(
        "ray-queue",
        "Ray actors, tuned: shares as in ray-pooled, with the messages of pipes",
        "on_actors",
        {"system": "ray-queue"},
        note="Ray starts and places the actors, and no message passes through it",
        role="peer",
        kind="ray",
    ),
    Backend(
        "pipes",
        "actors in processes of multiprocessing, a socket and shared memory between each and the driver",
        "on_actors",
        {"system": "pipes"},
        note="written by hand for this suite: no cluster, no restarts, no naming of actors",
        role="peer",
    ),
    Backend(
        "monarch",
        "Monarch's actors: shares as in ray-pooled, one cast per round to all of them",
        "on_actors",
        {"system": "monarch"},
        note="needs the extra `actors`",
        role="peer",
    ),
    Backend(
        "dask",
        "Dask's actors: shares as in ray-pooled, one call to each per round",
        "on_actors",
        {"system": "dask"},
        note="an actor gets its next call after its reply, as Dask keeps no order. Needs the extra `actors`",
        role="peer",
    ),
    Backend(
        "gymnasium-sync",
        "Gymnasium's SyncVectorEnv",
        "on_gymnasium",
        {"vector": "sync"},
        note="steps_per_message steps are as many calls of the vector",
        role="peer",
    ),
    Backend(
        "gymnasium-async",
        "Gymnasium's AsyncVectorEnv, a process per environment",
        "on_gymnasium",
        {"vector": "async"},
        note="steps_per_message steps are as many calls of the vector",
        role="peer",
    ),
    Backend(
        "reactor-vector",
        "reactorlib's vector environment, a share of the environments on each core",
        "on_gymnasium",
        {"vector": "reactor"},
        note="steps_per_message steps are as many calls of the vector",
        role="peer",
    ),
    Backend(
        "reactor-pool",
        "reactorlib's pool, a share of the environments on each core: shares that are ready go on",
        "on_pool",
        note="asynchronous: a round ends with as many results as there are environments, whichever those are",
        role="peer",
    ),
    Backend(
        "ray-wait",
        "Ray actors, tuned, with a share of the environments each: shares that are ready go on (ray.wait)",
        "on_ray_wait",
        note="asynchronous, as reactor-pool. The driver has no share",
        role="peer",
        kind="ray",
    ),
    Backend(
        "sb3-subproc",
        "Stable-Baselines3's SubprocVecEnv, a process per environment",
        "on_sb3",
        note="no digest, as rewards become float32; needs the extra `vectors`",
        matched=False,
        role="peer",
    ),
    Backend(
        "torchrl-parallel",
        "TorchRL's ParallelEnv, a process per environment",
        "on_torchrl",
        note="no digest, as values become tensors; needs the extra `vectors`",
        matched=False,
        role="peer",
    ),
    Backend(
        "tianshou-shmem",
        "Tianshou's ShmemVectorEnv, a process per environment",
        "on_tianshou",
        note="no digest. Its driver resets ended environments in a call of its own. Needs the extra `vectors`",
        matched=False,
        role="peer",
    ),
    Backend(
        "rllib",
        "RLlib's env runners: Ray actors, one per core, each with a share of the environments",
        "on_rllib",
        note="no digest, as it has random numbers and a learner of its own. A new episode takes a step. Its "
        "runners are at most one per core, and divide the environments evenly. It needs another Gymnasium, in an "
        "environment that `make install-rllib` makes",
        matched=False,
        role="peer",
        interpreter=RLLIB,
    ),
    Backend(
        "envpool",
        "EnvPool, environments in C++",
        "on_envpool",
        note="no digest, as it has environments and random numbers of its own. A new episode takes a step. An Atari "
        "frame is the maximum of two. Needs the extra `peers`",
        matched=False,
        role="peer",
    ),
    Backend(
        "ale-vector",
        "the Arcade Learning Environment's own vector",
        "on_ale_vector",
        note="no digest, as emulators are seeded in another way. Frames and actions are as in the other backends",
        matched=False,
        role="peer",
    ),
    Backend(
        "reactor-lf",
        "reactorlib on one process per core, its program read from Lingua Franca source",
        "on_reactor_lf",
        {"executor": "processes"},
        note="rings have two members or more",
        role="peer",
    ),
    Backend(
        "xronos",
        "reactors of xronos, a runtime in C++",
        "on_xronos",
        note="needs the extra `peers`",
        role="peer",
    ),
    Backend(
        "reactor-nodes",
        "reactorlib on one rank of MPI per core, half of them on another node",
        "on_reactors",
        {"executor": "mpi"},
        note=f"{_LINK}; needs the extra `mpi`",
        role="peer",
        on_two_nodes=True,
    ),
    Backend(
        "ray-paper-nodes",
        "Ray actors as the paper calls them, half of them on another node",
        "on_ray_paper",
        note=_LINK,
        role="peer",
        on_two_nodes=True,
    ),
    Backend(
        "ray-pooled-nodes",
        "Ray actors, tuned: shares as in ray-pooled, half of them on another node",
        "on_actors",
        {"system": "ray-pooled"},
        note=_LINK,
        role="peer",
        on_two_nodes=True,
    ),
    Backend(
        "ray-pooled-compiled-nodes",
        "Ray actors, tuned: the compiled graph of ray-pooled-compiled, half of its shares on another node",
        "on_actors",
        {"system": "ray-pooled-compiled"},
        note=_LINK,
        role="peer",
        on_two_nodes=True,
    ),
    Backend(
        "lockstep",
        "the plain loop on every core over its share, and between the cores nothing but counters",
        "on_lockstep",
        note="no digest, as the values of one core reach no other. Serial parts run as in the plain loop",
        matched=False,
        role="limit",
    ),
    Backend(
        "lockstep-threads",
        "lockstep on threads: all cores share one interpreter",
        "on_lockstep",
        {"threads": True},
        note="no digest, as in lockstep, whose cores have a process each",
        matched=False,
        role="limit",
    ),
    Backend(
        "limit",
        "a round's copies into existing memory, on all cores, and nothing else",
        "on_limit",
        note="what the machine allows, for others to be measured by",
        role="limit",
    ),
)

_FOUND = [
    _of_folder(path.parent, path.parent.name, f"workloads.{path.parent.name}")
    for path in Path(__file__).parent.glob(f"*/{_FACTS}")
]
WORKLOADS: dict[str, Workload] = {one.name: one for one in sorted(_FOUND, key=lambda one: one.place)}
BACKENDS: dict[str, Backend] = {backend.name: backend for backend in _BACKENDS}
BACKENDS |= {
    name + _NOGIL: replace(
        BACKENDS[name],
        name=name + _NOGIL,
        summary=f"{BACKENDS[name].summary}; Python without a GIL",
        interpreter=FREE_THREADED,
    )
    for name in _WITHOUT_A_GIL
}
# The backends that a run with a free-threaded interpreter adds to its own. Processes need no such interpreter.
# Lockstep on threads is for the preset that compares threads with processes.
BESIDE_A_GIL = tuple(name + _NOGIL for name in _WITHOUT_A_GIL if name not in ("reactor-processes", "lockstep-threads"))


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


def backend_of(name: str) -> Backend:
    """A backend of the suite by its name, or from outside (see `outside.PLACES`): a function like `run`, or the class
    of an actor system. Raises ParameterError.
    """
    if name not in BACKENDS and name in outside.PLACES:
        found: Any = outside.named(name)
        summary = (getattr(found, "__doc__", None) or name).partition("\n")[0]
        runs = {"system": name} if isinstance(found, type) else {}
        BACKENDS[name] = Backend(name, summary, "on_actors" if runs else "", runs, role="peer")
    if name not in BACKENDS:
        raise ParameterError(unknown("backend", name, BACKENDS))
    return BACKENDS[name]


def make_task(workload: str, parameters: Mapping[str, Any]) -> Any:
    """The task of a workload with these parameters; raises ParameterError for what is unknown or wrong."""
    return build(workload_of(workload).task_class(), parameters)


def runs(workload: str, backend: str) -> bool:
    """Whether a workload has a module for a backend. One from outside may run all, and a backend that is gone did."""
    with suppress(ParameterError):  # it is gone
        backend_of(backend)
    module = BACKENDS[backend].module if backend in BACKENDS else ""
    return not module or workload_of(workload).program(module) is not None


def load(workload: str, backend: str) -> Any:
    """Import what has the `run` of a workload on a backend, and all that it needs.

    Raises ParameterError, and UnsupportedError where a package of the extra `workloads` is absent.
    """
    found, chosen = workload_of(workload), backend_of(backend)
    program = found.program(chosen.module) if chosen.module else ""
    if program is None:
        raise ParameterError(f"backend: {backend} does not run {workload}")
    try:
        for part in found.parts:
            importlib.import_module(f"{found.module}.{part}")
        if "system" in chosen.options:
            from workloads.actors import system  # which imports its framework

            system.load(chosen.options["system"])
        return importlib.import_module(program) if program else SimpleNamespace(run=outside.named(backend))
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        raise UnsupportedError.missing(error.name.replace("_", "-"), "workloads") from None


def workers_of(backend: Backend, task: Any) -> int | None:
    """The number of workers a backend runs a task on: one per core, as far as there are members to place on them.

    None where every member has a worker of its own, or waits for simulated work as if it had one.
    """
    if backend.module == "on_serial":
        return 1
    if getattr(task, "work_seconds", 0) > 0 or _has_a_worker_for_each(backend):
        return None
    if backend.interpreter == RLLIB:
        from workloads.rllib_runners import runners_of  # not where workloads are only listed

        return runners_of(task.members)
    return 1 if backend.options.get("executor") == "inline" else _places(task)


def _has_a_worker_for_each(backend: Backend) -> bool:
    return backend.module in ("", *_A_WORKER_FOR_EACH) or backend.options.get("vector") in ("sync", "async")


def _places(task: Any) -> int:
    """One worker per core, as far as the task has members to place on them."""
    from reactorlib.cpus import available_cpus  # not where workloads are only listed

    return min(int(task.members), available_cpus())


def run(workload: str, backend: str, task: Any, probe: Probe, **options: Any) -> None:
    """Run a task once in this process, told to a probe. `options`: instead of the backend's own, or beside them.

    Raises ParameterError before anything starts, UnsupportedError where the backend cannot run, and whatever else
    the backend raises.
    """
    module, chosen = load(workload, backend), {**backend_of(backend).options, **options}
    if chosen.get("executor", "inline") != "inline" and "workers" not in options:
        workers = _places(task)
        if workers == 1:
            raise UnsupportedError("all that there is to place is on one worker: it would be reactor-inline again")
        if chosen["executor"] != "mpi":
            chosen["workers"] = workers
    if chosen.get("executor") == "mpi":
        from workloads import ranks  # for this executor only

        ranks.announce(workload, backend, task, probe, chosen)
    module.run(task, probe, **chosen)


def execute(workload: str, backend: str, parameters: Mapping[str, Any], *, verify: bool) -> Outcome:
    """Run a workload once in this process. Importing the framework is not part of the start-up time.

    Raises what `run` raises.
    """
    task = make_task(workload, parameters)
    load(workload, backend)
    probe = Probe(task.rounds, task.warmup_rounds, verify)
    run(workload, backend, task, probe)
    return probe.outcome()
