"""Where the environments of a vector are stepped if the caller does not say: inline, or by how many processes.

One environment is stepped for a few milliseconds in a process forked for that. Nothing that it draws, changes or
breaks there reaches this process. So the results do not depend on the choice.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from copy import deepcopy
from multiprocessing import current_process, get_context
from time import perf_counter_ns as clock
from typing import Any, NamedTuple

import numpy as np

from reactorlib.executors.start_method import forking_knowingly
from reactorlib.gymnasium.layout import is_plain
from reactorlib.gymnasium.reactors import packed, unpacked

TRIED_NS = 4_000_000  # the time in which steps are timed
FEWEST, MOST = 4, 400  # bounds of the number of timed steps
LONGEST_S = 2.0  # a trial that takes longer is ended, as such steps need no timing
# A round with one other process costs 6 us beyond its share of the steps where nothing else fills the caches.
# Between the steps of 16 CartPoles it costs 12 us. Each further process costs a message and a reply.
CROSSING_NS, TELLING_NS = 12_000, 5_000
OWN_NS = 450  # of ours in each step: the row, the reward, the ends


class Cost(NamedTuple):
    """The cost of one environment, in ns: of a step, and of what it reports that is not written in place."""

    step_ns: int
    travel_ns: int


class SteppingPlan(NamedTuple):
    """Where the environments are stepped, and why. `step_ns` is the measured time of a step, None if not measured."""

    executor: str
    workers: int
    reason: str
    step_ns: int | None = None


def stepping_plan(env: Any, n: int, executor: str | None, method: str | None, most: int) -> SteppingPlan:
    """The plan for `n` environments like this one: as the caller asks, or `planned`. Processes start by `method`."""
    if executor is not None:
        return SteppingPlan(executor, 1 if executor == "inline" else most, "asked for")
    if method != "fork":
        return SteppingPlan("processes", most, f"no step was timed, as processes start by {method}")
    return planned(env, n, most)


def planned(env: Any, n: int, most: int) -> SteppingPlan:
    """The plan for `n` environments like this one, with at most `most` workers. The environment stays as it is."""
    if min(n, most) == 1:
        return SteppingPlan("inline", 1, "there is one environment" if n == 1 else "there is one processor")
    if current_process().daemon:
        return SteppingPlan("inline", 1, "this is a daemonic process, which may start no others")
    cost = tried(env)
    if cost is None:
        return SteppingPlan("processes", min(n, most), "no step could be timed")
    rounds = {workers: _round_ns(cost, n, workers) for workers in range(1, min(n, most) + 1)}
    workers = min(rounds, key=rounds.__getitem__)
    other = workers if workers > 1 else min(list(rounds)[1:], key=rounds.__getitem__)
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
    """The cost of an environment, found in a forked process. None where that fails, or takes too long."""
    context = get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_try, args=(env, sending), daemon=True)
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


def _try(env: Any, sending: Any) -> None:
    os.setsid()
    try:
        sending.send(_timed(env))
    finally:
        os._exit(0)  # no handler of the parent's runs here


def _timed(env: Any) -> Cost:
    space = deepcopy(env.action_space)
    space.seed(0)
    env.reset(seed=0)
    steps: list[int] = []
    resets = [0]
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
    reset = np.median(resets[1:] or [0]) * (len(resets) - 1) / len(steps)
    return Cost(int(np.median(steps[len(steps) // 4 :]) + reset), _travel_ns(said) if said else 0)


def _travel_ns(said: list[Any]) -> int:
    """How long this takes to be packed and unpacked."""
    times = []
    for _ in range(5):
        start = clock()
        unpacked(packed(said, {}))
        times.append(clock() - start)
    return int(np.median(times))
