"""The presets of `run`: parameter sweeps, sized for two slow cores.

Every value here can be replaced by `--set`. A sweep lists values by parameter; the points are their product. Numbers of
workers grow with the cores (see `ByCores`), but for those of the paper's figures.
"""

from dataclasses import dataclass
from typing import Any

import psutil

from reactorlib.cpus import available_cpus
from workloads.catalogue import BACKENDS, FREE_THREADED

# How often each point starts afresh on each backend, unless a preset has another number.
TRIALS = 5
MIB = 2**20
KB = 10**3
MB = 10**6
MINUTE = 60
_VECTOR_ENVIRONMENTS = (
    "gymnasium-sync", "gymnasium-async", "reactor-vector", "sb3-subproc", "torchrl-parallel", "tianshou-shmem",
    "envpool", "ale-vector",
)  # fmt: skip
_PAPERS = ("reactor-processes", "ray-paper", "ray-pooled", "ray-pooled-compiled")
_POOLED = ("ray-pooled", "ray-compiled", "ray-pooled-compiled")
_WITHOUT_GIL = tuple(name for name, backend in BACKENDS.items() if backend.interpreter == FREE_THREADED)
_LIMITS = ("lockstep", "limit")
_FEW_WARM_UP = {"warmup_rounds": 5}
# The most that an actor of Ray's holds in `results/`, where it imports torch, is 260 MiB.
_WORKER_BYTES = 300 * 2**20
_MEMORY_SHARE = 0.5  # of the machine's, for the workers of one backend
# The paper's workers sleep ten times as long; in one thread, where one sleeps after the other, a round would take 8 s.
_WORK = 0.05
# With one round of warm-up: of ray-paper, one with 500 MB takes 13 s.
_SIZES = (10 * MB, 100 * MB, 300 * MB, 500 * MB)


@dataclass(frozen=True)
class ByCores:
    """A number of workers: `each` for every core, but at least `least`, where cores or memory are few."""

    least: int
    each: int = 4

    def here(self) -> tuple[int, str]:
        """The number on this machine, and why it is less than the cores ask for; empty where it is not."""
        wanted = max(self.least, self.each * available_cpus())
        fitting = int(_MEMORY_SHARE * psutil.virtual_memory().total / _WORKER_BYTES)
        count = max(self.least, min(wanted, fitting))
        return count, f"{count} workers instead of {wanted}: memory has no room for more" if count < wanted else ""


class Sweep:
    """Values of some parameters of a workload, the others at default. A single value needs no tuple."""

    def __init__(self, workload: str, **values: Any) -> None:
        self.workload = workload
        self.values = {name: value if isinstance(value, tuple) else (value,) for name, value in values.items()}


@dataclass(frozen=True)
class Preset:
    """Sweeps and the backends on which they run. `time_limit_s`: for one trial. `budget_s`: for all. It may
    allow fewer trials, but at least one of each point. `predicts`: each point's speed-up is predicted before it is
    measured, and the run ends with a file to contribute.
    """

    summary: str
    backends: tuple[str, ...]
    sweeps: tuple[Sweep, ...]
    trials: int = TRIALS
    time_limit_s: float = 180
    budget_s: float | None = None
    predicts: bool = False


_WORKERS = ByCores(8)
_MANY = ByCores(16)
_ONE_EACH = ByCores(4, each=1)
_LEARNING = ByCores(4, each=2)
_MADE_UP = {"actors": _WORKERS, "rounds": 100, "warmup_rounds": 5}
# The rounds are few: a plain loop verifies all of them on 512 environments where there are 256 cores.
_SHARED = ByCores(8, each=2)

PRESETS = {
    "smoke": Preset(
        summary="does everything work? one short trial of each workload, a few minutes",
        trials=1,
        time_limit_s=120,
        backends=("serial", "reactor-inline", "reactor-processes", "ray-paper"),
        sweeps=(
            Sweep("broadcast_gather", actors=2, object_bytes=MIB, work_seconds=0.0, rounds=20, **_FEW_WARM_UP),
            Sweep("gym_sampling", env="CartPole-v1", actors=2, rounds=200, **_FEW_WARM_UP),
            Sweep("atari_sampling", env="Pong", actors=2, rounds=50, **_FEW_WARM_UP),
            Sweep("q_learning", actors=2, rounds=5, warmup_rounds=1),
            Sweep("multi_agent", agents=2, rounds=100, **_FEW_WARM_UP),
            Sweep("ppo", actors=2, rounds=3, warmup_rounds=1),
            Sweep("overhead", shape="fan_out", actors=2, messages_per_round=10, rounds=20, **_FEW_WARM_UP),
        ),
    ),
    # Most of a block's time goes into starting Ray: few points, and the backends that answer. The first point is the
    # cheapest, as its backends run twice, for the noise floor. The last one's arrays end the drivers that are kept.
    "quick": Preset(
        summary="a first answer with intervals: the paper's workloads, a slow environment; five starts in 25 minutes",
        backends=("serial", "reactor-inline", *_PAPERS, *_LIMITS),
        sweeps=(
            Sweep("gym_sampling", env="CartPole-v1", actors=_WORKERS, rounds=500),
            Sweep("gym_sampling", env="busy:2ms", actors=_WORKERS, rounds=20),
            Sweep("atari_sampling", env="Pong", actors=_WORKERS, rounds=100),
            Sweep("q_learning", actors=_LEARNING, minibatch=250, rounds=5),
            Sweep("multi_agent", agents=_ONE_EACH, rounds=500),
            Sweep("ppo", actors=_LEARNING, steps=32, rounds=5),
            Sweep("broadcast_gather", actors=_WORKERS, object_bytes=10 * MIB, work_seconds=0.0, rounds=30),
        ),
        budget_s=25 * MINUTE,
    ),
    "crossover": Preset(
        summary="from where on Ray is as good, by step time, size of an observation and steps per message; 20 minutes",
        budget_s=20 * MINUTE,
        backends=("serial", "reactor-processes", "ray-tuned", "ray-pooled", "ray-pooled-compiled", "lockstep"),
        sweeps=(
            Sweep("gym_sampling", env=("busy:20us", "busy:200us", "busy:2ms", "busy:20ms"), **_MADE_UP),
            Sweep("gym_sampling", env=("busy:200us:1000", "busy:200us:100000", "busy:200us:4000000"), **_MADE_UP),
            Sweep("gym_sampling", env="busy:200us", steps_per_message=(10, 100), **_MADE_UP),
        ),
    ),
    "vectors": Preset(
        summary="vector environments next to each other, by step time, also those of the extra `vectors`; 20 minutes",
        budget_s=20 * MINUTE,
        backends=("serial", *_VECTOR_ENVIRONMENTS, "lockstep"),
        sweeps=(
            Sweep(
                "gym_sampling", env=("CartPole-v1", "Pendulum-v1", "busy:200us", "busy:2ms"), actors=_MANY, rounds=500
            ),
            Sweep("atari_sampling", env="Pong", actors=_MANY, rounds=150),
            Sweep("ppo", env=("CartPole-v1", "busy:1ms"), actors=_MANY, rounds=10),
        ),
    ),
    "paper": Preset(
        summary="every point of every figure of the paper at its counts, five starts each; two hours",
        time_limit_s=900,
        backends=("serial", *_PAPERS, *_LIMITS),
        sweeps=(
            Sweep("gym_sampling", env=("CartPole-v1", "Blackjack-v1", "Pendulum-v1"), actors=15, rounds=10_000),
            Sweep("atari_sampling", env=("MsPacman", "Pong", "SpaceInvaders"), actors=15, rounds=10_000),
            Sweep("q_learning", actors=16, minibatch=(250, 500, 1_000, 2_000), rounds=1_000),
            Sweep("q_learning", actors=16, representation="tensors", rounds=1_000),
            Sweep("multi_agent", agents=(4, 10), rounds=100_000),
            Sweep("multi_agent", agents=10, step_busy_us=200.0, rounds=100_000),
            Sweep("multi_agent", agents=10, representation="tensors", rounds=100_000),
            Sweep("broadcast_gather", actors=(2, 4, 8, 16), object_bytes=10 * MIB, work_seconds=_WORK, rounds=1_000),
            Sweep(
                "broadcast_gather", actors=16, object_bytes=_SIZES, work_seconds=_WORK, rounds=1_000, warmup_rounds=1
            ),
        ),
    ),
    "nodes": Preset(
        summary="Ray and reactors on two nodes, made of this machine's network namespaces; 20 minutes",
        budget_s=20 * MINUTE,
        backends=("serial", "reactor-nodes", "ray-paper-nodes", "ray-pooled-nodes"),
        sweeps=(
            Sweep("gym_sampling", env="CartPole-v1", actors=16, rounds=500),
            Sweep("atari_sampling", env="Pong", actors=8, rounds=100),
            Sweep("broadcast_gather", actors=2, object_bytes=(KB, 10 * MIB), work_seconds=0.0, rounds=100),
        ),
    ),
    "threads": Preset(
        summary="threads without a GIL, processes and Ray: the paper's workloads, by object size and actors; "
        "75 minutes",
        budget_s=75 * MINUTE,
        backends=("serial", "reactor-processes", *_POOLED, *_LIMITS, *_WITHOUT_GIL),
        sweeps=(
            Sweep("gym_sampling", env=("CartPole-v1", "Pendulum-v1", "Blackjack-v1"), actors=15, rounds=500),
            Sweep("atari_sampling", env="Pong", actors=15, rounds=100),
            Sweep("broadcast_gather", actors=(4, 16), object_bytes=10 * MIB, work_seconds=0.0, rounds=30),
            Sweep("broadcast_gather", actors=16, object_bytes=(KB, MIB), work_seconds=0.0, rounds=100),
            Sweep("q_learning", actors=16, minibatch=250, rounds=5),
            Sweep("multi_agent", agents=4, rounds=500),
            Sweep("ppo", actors=16, steps=32, rounds=5),
        ),
    ),
    "contribute": Preset(
        summary="a file of your machine for docs/contributed.md, predicted before it is measured; ten minutes",
        budget_s=10 * MINUTE,
        predicts=True,
        backends=("serial", "reactor-processes", "ray-pooled", "ray-pooled-compiled", "lockstep"),
        sweeps=(
            Sweep("gym_sampling", env="CartPole-v1", actors=_SHARED, rounds=100),
            Sweep("gym_sampling", env="busy:2ms", actors=_SHARED, rounds=10),
            Sweep("atari_sampling", env="Pong", actors=_SHARED, rounds=20),
            Sweep("q_learning", actors=_ONE_EACH, minibatch=250, rounds=3),
        ),
    ),
}
