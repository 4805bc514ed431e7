"""Broadcast and gather: the array, the worker's work and the hub's update."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from workloads.digest import Digest, NoDigest
from workloads.parameter import ParameterError, parameter
from workloads.tasks import CommonTask

# One dimension of object_bytes / 8 elements.
Allocate = Callable[[tuple[int, ...], Any], Any]  # of shape and dtype: an uninitialised array
Value = npt.NDArray[np.float64]

_ITEM_BYTES = 8
_UNITS = {"GiB": 2**30, "GB": 10**9, "MiB": 2**20, "MB": 10**6, "KiB": 2**10, "kB": 10**3}


@dataclass(frozen=True)
class Task(CommonTask):
    """The parameters of broadcast_gather; the defaults are the paper's."""

    metric: ClassVar[str] = "overhead"

    actors: int = parameter(16, "workers", minimum=1)
    object_bytes: int = parameter(10 * 2**20, "size of the array: a multiple of 8", minimum=_ITEM_BYTES)
    work_seconds: float = parameter(0.5, "how long a worker sleeps before it replies", minimum=0, maximum=60)
    seed: int = parameter(0, "seed of the first array", minimum=0)
    rounds: int = parameter(1_000, "measured rounds", minimum=1)
    warmup_rounds: int = parameter(5, "rounds before the measured ones", minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        below = self.object_bytes // _ITEM_BYTES * _ITEM_BYTES
        if below != self.object_bytes:
            raise ParameterError(
                f"object_bytes: must be a multiple of {_ITEM_BYTES} (float64), got {self.object_bytes}; "
                f"the nearest are {below} and {below + _ITEM_BYTES}"
            )

    @property
    def scenario(self) -> str:
        """The array's size in the largest unit that divides it."""
        for unit, size in _UNITS.items():
            if self.object_bytes % size == 0:
                return f"{self.object_bytes // size}{unit}"
        return f"{self.object_bytes}B"

    def first_value(self) -> Value:
        """The array of the first broadcast: noise, so that no two pages are alike."""
        return np.random.default_rng(self.seed).random(self.object_bytes // _ITEM_BYTES)

    @property
    def work_ns(self) -> int:
        """How long a worker's work takes."""
        return round(self.work_seconds * 1e9)

    def wait(self) -> None:
        """Sleep as long as a worker's work takes."""
        if self.work_seconds:
            time.sleep(self.work_seconds)

    def work(self, value: Value, allocate: Allocate = np.empty) -> Value:
        """A worker's part of a broadcast: sleep, then copy."""
        self.wait()
        return self.copy([value], allocate)

    @staticmethod
    def copy(parts: Sequence[Value], allocate: Allocate = np.empty) -> Value:
        """A worker's reply to an array in these parts, in memory that the backend allocates."""
        copy: Value = allocate((sum(map(len, parts)),), parts[0].dtype)
        return np.concatenate(parts, out=copy)

    def cut(self, parts: int) -> list[slice]:
        """Where equal parts of the array are."""
        length = self.object_bytes // _ITEM_BYTES
        return [slice(length * part // parts, length * (part + 1) // parts) for part in range(parts)]

    @staticmethod
    def part(reply: Value, own: slice, round_index: int, allocate: Allocate = np.empty) -> Value:
        """A part of the next broadcast, see `next_value`."""
        part: Value = allocate((own.stop - own.start,), reply.dtype)
        np.copyto(part, reply[own])
        changed = round_index % len(reply)
        if own.start <= changed < own.stop:
            part[changed - own.start] += 1.0
        return part

    def next_value(self, reply: Value, round_index: int, allocate: Allocate = np.empty) -> Value:
        """The next broadcast: a copy of the first reply with one element changed, so that rounds differ."""
        return self.part(reply, slice(0, len(reply)), round_index, allocate)

    @staticmethod
    def change(value: Value, round_index: int) -> None:
        """Change one element in place."""
        value[round_index % len(value)] += 1.0

    def record(self, digest: Digest | NoDigest, replies: Sequence[Any]) -> None:
        """Add a round's replies to the digest, one stream per worker."""
        for index, reply in enumerate(replies):
            digest.add(index, reply)


def into(existing: Value, _shape: tuple[int, ...], _dtype: Any) -> Value:
    """An Allocate, once its first argument is given, that allocates nothing."""
    return existing
