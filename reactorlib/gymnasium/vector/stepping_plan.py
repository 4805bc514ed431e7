"""Where the environments of a vector are stepped if the caller does not say: inline, or by how many processes.

One environment is stepped for a few milliseconds in a process forked for that. Nothing that it draws, changes or
breaks there reaches this process. So the results do not depend on the choice.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from copy import deepcopy
from functools import partial
from multiprocessing import current_process, get_context
from time import perf_counter_ns as clock
from typing import Any, NamedTuple

import numpy as np

from reactorlib import ExecutorName
from reactorlib.cpus import available_cpus
from reactorlib.executors.start_method import choose_start_method, forking_knowingly
from reactorlib.gymnasium.vector.calling_thread import CallingThread, calling_thread
from reactorlib.gymnasium.vector.layout import is_plain
from reactorlib.gymnasium.vector.reactors import packed, unpacked

TRIED_NS = 4_000_000  # the time in which steps are timed
FEWEST, MOST = 4, 400  # bounds of the number of timed steps
LONGEST_S = 2.0  # a trial that takes longer is ended, as such steps need no timing
# A round with one other process costs 6 us beyond its share of the steps where nothing else fills the caches.
# Between the steps of 16 CartPoles it costs 12 us. Each further process costs a message and a reply.
CROSSING_NS, TELLING_NS = 12_000, 5_000
OWN_NS = 450  # of ours in each step: the row, the reward, the ends
FEW_CPUS = 4  # up to which the caller's process also steps environments
UNREGISTERED = "a new process does not have the environments that were registered in this one"


class Cost(NamedTuple):
    """The cost of one environment, in ns: of a step, and of what it reports that is not written in place."""

    step_ns: int
    travel_ns: int


class SteppingPlan(NamedTuple):
    """The executor that steps the environments, and the reason. `step_ns` is the measured time of a step, or None."""

    executor: ExecutorName
    workers: int
    reason: str
    step_ns: int | None = None


def chosen(
    env: Any,
    n: int,
    executor: ExecutorName | None,
    workers: Any,
    caller_steps: bool | None,
    method: str | None,
    max_concurrency: Any,
) -> tuple[SteppingPlan, str | None, bool]:
    """The plan for `n` environments like this one, how processes start, and whether the caller steps a share.

    The arguments are those of ReactorVectorEnv.
    """
    if executor is None and (workers is not None or caller_steps is not None or method is not None):
        executor = "processes"  # of which the caller has an idea
    # Forked processes and ranks have the definitions of the main script.
    method = choose_start_method(method, lambda: UNREGISTERED) if executor in (None, "processes") else None
    free = _ranks() - (caller_steps is False) if executor == "mpi" else available_cpus()
    most, obstacle = min(n, int(workers or free), int(max_concurrency or n)), None
    if caller_steps is None:
        caller_steps = executor == "mpi" or available_cpus() <= FEW_CPUS
        if caller_steps and executor != "mpi":
            obstacle = calling_thread().obstacle
            caller_steps = obstacle is None
    if executor is None:
        plan = planned(env, n, most, method)
    else:
        plan = SteppingPlan(executor, 1 if executor == "inline" else most, "asked for")
    if obstacle is not None and plan.executor != "inline":
        plan = plan._replace(reason=f"{plan.reason}; the caller steps none, as {obstacle}")
    if plan.workers == 1 and caller_steps:
        plan = plan._replace(executor="inline")
    return plan, method, caller_steps or plan.executor == "inline"


def _ranks() -> int:
    """How many ranks there are that serve sessions, with that of the caller."""
    from reactorlib.mpi.ranks import serving  # only where it is used: it needs ranks

    return serving().size


def planned(env: Any, n: int, most: int, method: str | None = "fork") -> SteppingPlan:
    """The plan for `n` environments like this one, with at most `most` workers. The environment stays as it is.

    Processes start by `method`. Only a forked one has the environment, and can time its steps.
    """
    if current_process().daemon:
        return SteppingPlan("inline", 1, "this is a daemonic process, which may start no others")
    alone = SteppingPlan("inline", 1, "there is one environment" if n == 1 else "there is one processor")
    most = min(n, most)
    if most == 1 and calling_thread().obstacle is None:
        return alone
    if method != "fork":
        return SteppingPlan("processes", most, f"no step was timed, as processes start by {method}")
    cost = tried(env)
    if cost is None:
        return SteppingPlan("processes", most, "no step could be timed")
    if most == 1:
        return alone
    rounds = {workers: _round_ns(cost, n, workers) for workers in range(1, most + 1)}
    workers, other = min(rounds, key=rounds.__getitem__), min([*rounds][1:], key=rounds.__getitem__)
    reason = (
        f"a step takes {cost.step_ns / 1000:.3g} us: a round of {n} is expected to take {rounds[1] / 1000:.3g} us "
        f"inline, {rounds[other] / 1000:.3g} us on {other} processes"
    )
    return SteppingPlan("processes" if workers > 1 else "inline", workers, reason, cost.step_ns)


def _round_ns(cost: Cost, n: int, workers: int) -> int:
    share = -(-n // workers)
    if workers == 1:
        return n * (cost.step_ns + OWN_NS)
    own = share * (cost.step_ns + OWN_NS) + (n - share) * cost.travel_ns
    return own + CROSSING_NS + (workers - 2) * TELLING_NS


def tried(env: Any) -> Cost | None:
    """The cost of an environment, found in a forked process. None where that fails, or takes too long.

    It also fails where the environment would fail in the caller's thread.
    """
    context = get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_try, args=(env, sending, calling_thread()), daemon=True)
    try:
        with forking_knowingly():
            process.start()
        sending.close()
        return receiving.recv() if receiving.poll(LONGEST_S) else None
    except (EOFError, OSError):  # it has ended; there is no room for another
        return None
    finally:
        receiving.close()
        sending.close()
        if process.pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # also what the environment has started
            process.kill()
            process.join()
        process.close()


def _try(env: Any, sending: Any, thread: CallingThread) -> None:
    os.setsid()
    try:
        sending.send(thread.imitate(partial(_timed, env)))
    finally:
        os._exit(0)  # no handler of the parent's runs here


def _timed(env: Any) -> Cost:
    space = deepcopy(env.action_space)
    space.seed(0)
    env.reset(seed=0)
    steps: list[int] = []
    resets: list[int] = []
    began = clock()
    while len(steps) < FEWEST or (len(steps) < MOST and clock() - began < TRIED_NS):
        action = space.sample()
        start = clock()
        observation, _, terminated, truncated, info = env.step(action)
        steps.append(clock() - start)
        if terminated or truncated:
            start = clock()
            env.reset()
            resets.append(clock() - start)
    said = ([info] if info else []) + ([] if is_plain(env.observation_space) else [observation])
    reset = np.median(resets or [0]) * len(resets) / len(steps)
    return Cost(int(np.median(steps[len(steps) // 4 :]) + reset), _travel_ns(said) if said else 0)


def _travel_ns(said: list[Any]) -> int:
    """How long this takes to be packed and unpacked."""
    times = [clock()]
    for _ in range(5):
        unpacked(packed(said, {}))
        times.append(clock())
    return int(np.median(np.diff(times)))
