"""Pools of random environments and durations, which are run in many ways and must return the same bits in all."""

import os
import random
import signal
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from gymnasium.vector.utils import concatenate, create_empty_array, iterate

from reactorlib import WorkerError
from reactorlib.gymnasium import ReactorPool
from reactorlib.gymnasium.contract import difference, probes
from reactorlib.gymnasium.pool.batch_order import BatchOrder
from reactorlib.worker.canonical_form import canonical
from tests.reactorlib.gymnasium.environments import made

PROBES = [name for name in probes.PROBES if name not in probes.TWINS]
WAYS = [{"workers": workers, "executor": executor} for workers in (1, 2, 4) for executor in ("processes", "threads")]


def run(pool: Any, batches: int, counts: list[int], done: int = 0) -> list[Any]:
    """Receive and send, `done` batches having been received before. The actions follow from the observations."""
    log = []
    for batch in range(done, done + batches):
        observations, *columns, infos = received = pool.recv(counts[batch % len(counts)])
        log.append(received)
        ids = infos["env_id"]
        marks = [crc32(canonical(one)) for one in iterate(pool.observation_space, observations)]
        pool.send(actions_of(pool, marks, columns), ids)
    return log


def actions_of(pool: Any, marks: list[int], columns: list[Any]) -> Any:
    """A batch of actions, drawn by the checksums of the observations and by all rewards."""
    space, actions = pool.single_action_space, []
    for mark, reward in zip(marks, columns[0], strict=True):
        space.seed(mark ^ int(np.float64(reward).view(np.int64) & 0x7FFFFFFF))
        actions.append(space.sample())
    return concatenate(space, actions, create_empty_array(space, len(actions), np.zeros))


def numbers_of(log: list[Any]) -> list[list[int]]:
    """The numbers of the environments of each batch."""
    return [infos["env_id"].tolist() for *_, infos in log]


class RandomPool:
    """The pool of a seed."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.seed = seed
        self.n = draw.randint(2, 9)
        self.make = made(draw.choice(PROBES), self.n)
        self.mode = draw.choice(["NextStep", "SameStep"])
        self.durations = [draw.randint(1, 9) for _ in range(self.n)]
        self.counts = [draw.randint(1, self.n) for _ in range(draw.randint(1, 3))]
        self.batches = draw.randint(8, 30)
        self.saved_at = draw.randint(1, self.batches - 1)
        self.killed_at = draw.randint(self.saved_at, self.batches)
        self.killed = draw.randrange(self.n)

    def check(self, ways: list[dict[str, Any]]) -> None:
        """Logical and given order return the same batches in all of these ways, also after a worker was killed."""
        logical = {"order": "logical", "durations": self.durations}
        expected = self._whole(ways[0], **logical)
        arrived = self._whole(ways[-1])
        given = {"order": numbers_of(arrived)}
        for way in ways:
            assert difference(self._whole(way, **logical), expected, f"{self.seed}, {way}: logical order") is None
            assert difference(self._whole(way, **given), arrived, f"{self.seed}, {way}: given order") is None
        for options, log in ((logical, expected), (given, arrived)):
            state = self._killed(ways[0] | {"executor": "processes"}, options, log)
            for way in ways[-2:]:
                pool = self._pool(way, **options)
                pool.restore(state)
                after = run(pool, self.batches - self.saved_at, self.counts, self.saved_at)
                pool.close()
                assert difference(after, log[self.saved_at :], f"{self.seed}, {way}: restored") is None

    def _pool(self, way: dict[str, Any], **options: Any) -> ReactorPool:
        return ReactorPool(self.make, autoreset_mode=self.mode, resumable=self.seed % 2 == 0, **way, **options)

    def _whole(self, way: dict[str, Any], **options: Any) -> list[Any]:
        pool = self._pool(way, **options)
        pool.reset_async(seed=self.seed)
        log = run(pool, self.batches, self.counts)
        pool.close()
        return log

    def _killed(self, way: dict[str, Any], options: dict[str, Any], log: list[Any]) -> bytes:
        """The state of a pool that was saved before a worker of it was killed."""
        pool = self._pool(way, **options)
        pool.reset_async(seed=self.seed)
        before = run(pool, self.saved_at, self.counts)
        state = pool.save()
        process = pool._member_of[self.killed].envs.apply(_process)[0]
        before += run(pool, self.killed_at - self.saved_at, self.counts, self.saved_at)
        assert difference(before, log[: self.killed_at], f"{self.seed}: before the end of a worker") is None
        os.kill(process, signal.SIGKILL)
        with pytest.raises(WorkerError):
            _go_on(pool)
        pool.close(terminate=True)
        return state


def _go_on(pool: ReactorPool) -> None:
    """Step until a worker is found to be dead, without regard to the order of the pool."""
    pool._order = BatchOrder()
    for _ in range(3):
        pool.recv(timeout=60)
        pool.send(pool.action_space.sample(), range(pool.num_envs))


def _process(env: Any) -> int:
    return os.getpid()
