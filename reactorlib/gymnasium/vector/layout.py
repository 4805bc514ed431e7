"""Where the data of a vector environment lies: one batch of bytes, carved into the same arrays by everybody.

Observations whose spaces are made of arrays are written into place; others travel as values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import create_empty_array

from reactorlib.transport.loan import loan_over

ARRAYS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
ALIGNED = 64  # bytes that processors share as a whole
LINE = ALIGNED // 8  # integers in ALIGNED bytes, which a number that a worker writes often has for itself
LENT_FROM = 1 << 15  # bytes of observations from which on a batch is lent to the user instead of copied
LENT = 5  # batches that the user may keep before the next one is copied


def is_plain(space: Any) -> bool:
    """Whether observations of a space can be written into arrays."""
    if isinstance(space, spaces.Dict):
        return all(is_plain(part) for part in space.spaces.values())
    if isinstance(space, spaces.Tuple):
        return all(is_plain(part) for part in space.spaces)
    return isinstance(space, ARRAYS)


def is_number(space: Any) -> bool:
    """Whether observations are single integers of 64 bits, as of Discrete."""
    return bool(space.shape == () and space.dtype == np.int64)


class Arrays(NamedTuple):
    """All that is carved from one batch."""

    observations: list[Any]  # batches, which take turns
    actions: Any  # None, if they travel as values
    rewards: Any
    terminations: Any
    truncations: Any
    inside: Any  # the environment that each share is calling, or -1
    answered: Any  # how many requests each share has answered


class Layout(NamedTuple):
    """The arrays for `n` environments in `shares`. With `in_place`, observations always lie in the same place."""

    n: int
    shares: int
    observation_space: Any  # of one environment
    action_space: Any  # of all
    single_action_space: Any
    in_place: bool

    @property
    def is_plain(self) -> bool:
        return is_plain(self.observation_space)

    @property
    def nbytes(self) -> int:
        carver = _Carver(None)
        self._carve(carver)
        return carver.top

    def carve(self, memory: Any) -> Arrays:
        """The arrays in this array of bytes."""
        return self._carve(_Carver(memory))

    def _carve(self, carver: _Carver) -> Arrays:
        space, observations = self.observation_space, []
        if self.is_plain:
            observations.append(create_empty_array(space, self.n, carver.empty))
            if isinstance(space, ARRAYS) and carver.top >= LENT_FROM and not self.in_place:
                observations += [create_empty_array(space, self.n, carver.empty) for _ in range(LENT)]
        plain_actions = isinstance(self.single_action_space, ARRAYS)
        return Arrays(
            observations,
            carver.empty(self.action_space.shape, self.action_space.dtype) if plain_actions else None,
            carver.empty(self.n, np.float64),
            carver.empty(self.n, np.bool_),
            carver.empty(self.n, np.bool_),
            carver.empty((self.shares, LINE), np.int64)[:, 0],
            carver.empty((self.shares, LINE), np.int64)[:, 0],
        )


class _Carver:
    """Arrays one after the other; without memory it only counts."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.top = 0

    def empty(self, shape: Any, dtype: Any = float) -> Any:
        kind = np.dtype(dtype)
        whole = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
        at = self.top
        nbytes = int(np.prod(whole, dtype=np.int64)) * kind.itemsize
        self.top += -(-nbytes // ALIGNED) * ALIGNED
        if self.memory is None:
            return np.broadcast_to(np.zeros((), kind), whole)
        return self.memory[at : at + nbytes].view(kind).reshape(whole)


def rows_of(batch: Any, rows: Any) -> Any:
    """A copy of these rows of a batch, which may be of several arrays."""
    return _each(lambda part: part[rows], batch)


def put_rows(batch: Any, rows: Any, values: Any) -> None:
    """The opposite of `rows_of`."""
    _each(lambda part, value: part.__setitem__(rows, value), batch, values)


def joined(batches: Sequence[Any]) -> Any:
    """One batch of all their rows."""
    return _each(lambda *parts: np.concatenate(parts), *batches)


def reshaped(batch: Any, old: int, new: tuple[int, ...]) -> Any:
    """The batch with `new` in place of its first `old` dimensions."""
    return _each(lambda part: np.reshape(part, (*new, *np.shape(part)[old:])), batch)


def _each(act: Callable[..., Any], first: Any, *others: Any) -> Any:
    """Do something with each array of the first batch and its counterparts in the others."""
    if isinstance(first, dict):
        return {key: _each(act, part, *(other[key] for other in others)) for key, part in first.items()}
    if isinstance(first, tuple):
        return tuple(_each(act, *parts) for parts in zip(first, *others, strict=True))
    return act(first, *others)


class Lease:
    """A batch of observations that the user sees as it lies; free again when the last view of it has died."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.is_free = True  # nobody sees it

    def lend(self) -> Any:
        """A view that the user may keep."""
        array, self.is_free = self._array, False
        lent = loan_over(array.nbytes)(array.reshape(-1).view(np.uint8))
        lent.__del__ = partial(setattr, self, "is_free", True)
        return np.frombuffer(lent, array.dtype).reshape(array.shape)


def writer(space: Any, batch: Any, own: slice) -> Callable[[int, Any], None]:
    """The function that puts an observation into a batch, at a position of the rows `own`."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        each = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        parts = [(key, writer(one, batch[key], own)) for key, one in each]
        return partial(_put_parts, parts, isinstance(space, spaces.Tuple))
    mine, dtype, shape = batch[own], space.dtype, space.shape
    rows: Any = memoryview(mine) if is_number(space) else [mine[row, ...] for row in range(len(mine))]

    def put_number(position: int, value: Any) -> None:
        if value.__class__ is int or value.__class__ is np.int64:
            rows[position] = value
        else:
            _fit(mine[position, ...], value)

    def put_array(position: int, value: Any) -> None:
        if value.__class__ is np.ndarray and value.dtype is dtype and value.shape == shape:
            rows[position][...] = value
        else:
            _fit(rows[position], value)

    return put_number if is_number(space) else put_array


def _put_parts(parts: list[Any], is_tuple: bool, position: int, value: Any) -> None:
    if is_tuple and len(value) != len(parts):
        raise ValueError(f"an observation has {len(value)} parts, its space has {len(parts)}")
    for key, put in parts:
        put(position, value[key])


def _fit(row: Any, value: Any) -> None:
    """Put an observation into its row that is not as its space says, if NumPy calls it of the same kind."""
    value = np.asarray(value)
    if value.shape != row.shape:
        raise ValueError(f"an observation has shape {value.shape}, its space has {row.shape}")
    np.copyto(row, value, casting="same_kind")
