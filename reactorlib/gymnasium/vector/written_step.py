"""The step of a share, written for its observation space and its autoreset mode: without a test that it can do without.

The function is `step(positions, actions, buffer)`. Its text is below, with the parts in braces that differ. Rewards and
ends go to memory of the share's own and are published once: workers that write to one cache line wait for each other.
"""

from __future__ import annotations

import linecache
import re
import zlib
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import count
from textwrap import indent
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from reactorlib.gymnasium.vector.layout import is_number, is_plain

Step = Callable[[Iterable[int], Iterable[Any], int], list[Any]]  # positions, their actions, a batch of observations
Put = Callable[[int, Any, int], None]  # the observation of a position

_STEP = """\
def make(share):
    envs, ended, last = share.envs, share.ended, share.last
    rewards, terminations, truncations = share.rewards, share.terminations, share.truncations
    inside, low, publish, rows = share.inside, share.low, share.publish, share.rows

    def step(positions, actions, buffer):
        infos = []
        {targets}
        for position, action in zip(positions, actions):
            env = envs[position]
            inside[0] = low + position
            {before}
            observation, reward, terminated, truncated, info = env.step(action)
            try:
                rewards[position] = reward
            except (TypeError, ValueError):  # an array with one element or None, as some environments return it
                rewards[position] = asarray(reward, float).item()
            terminations[position] = terminated
            truncations[position] = truncated
            {after}
            {write}
        inside[0] = -1
        publish()
        return infos

    def put(position, observation, buffer):
        {targets}
        {write}

    return step, put
"""
_NEXT_STEP = """\
if ended[position]:
    observation, info = env.reset()
    rewards[position] = 0.0
    ended[position] = terminations[position] = truncations[position] = False
    {write}
    if info:
        infos.append((low + position, info, None))
    continue
"""
_DISABLED = """\
if ended[position]:
    raise AssertionError("the episode has ended: reset this environment first (autoreset_mode is disabled)")
"""
_STAYS_ENDED = """\
if terminated or truncated:
    ended[position] = True
if info:
    infos.append((low + position, info, None))
"""
_SAME_STEP = """\
if terminated or truncated:
    final = {"final_obs": kept(observation), "final_info": kept_infos(info)}
    observation, info = env.reset()
    infos.append((low + position, info, final))
elif info:
    infos.append((low + position, info, None))
"""
_MODES = {
    AutoresetMode.NEXT_STEP: (_NEXT_STEP, _STAYS_ENDED),
    AutoresetMode.SAME_STEP: ("", _SAME_STEP),
    AutoresetMode.DISABLED: (_DISABLED, _STAYS_ENDED),
}
_ROW = """\
if {value}.__class__ is ndarray and {value}.dtype is {row}_dtype and {value}.shape == {row}_shape:
    {row}[position][...] = {value}
else:
    fit({row}, position, {value})
"""
_NUMBER = """\
if {value}.__class__ is int or {value}.__class__ is int64:
    {row}[position] = {value}
else:
    fit({row}, position, {value})
"""
_PARTS = """\
if len({value}) != {count}:
    raise ValueError(f"an observation has {{len({value})}} parts, its space has {count}")
"""


class Writing:
    """The text that writes one observation. `row0`, `row1`, ... are the rows of its arrays."""

    def __init__(self, space: Any) -> None:
        self.arrays: list[Any] = []  # their spaces
        self.names: dict[str, Any] = {}
        self._parts = count()
        self.text = self._write(space, "observation")

    def _write(self, space: Any, value: str) -> str:
        if isinstance(space, spaces.Dict):
            return "".join(self._part(one, value, key) for key, one in space.spaces.items())
        if isinstance(space, spaces.Tuple):
            parts = [self._part(one, value, number) for number, one in enumerate(space.spaces)]
            return _PARTS.format(value=value, count=len(parts)) + "".join(parts)
        row = f"row{len(self.arrays)}"
        self.arrays.append(space)
        self.names |= {f"{row}_dtype": space.dtype, f"{row}_shape": space.shape}
        return (_NUMBER if is_number(space) else _ROW).format(value=value, row=row)

    def _part(self, space: Any, whole: str, key: Any) -> str:
        number = next(self._parts)
        self.names[f"key{number}"] = key
        return f"part{number} = {whole}[key{number}]\n{self._write(space, f'part{number}')}"


def written_for(share: Any, space: Any, mode: AutoresetMode, rotates: bool) -> tuple[Step, Put]:
    """The functions of a share. `rotates`: the last observations are needed again."""
    written = Writing(space) if is_plain(space) else None
    targets = "".join(f"row{number}, " for number in range(len(written.arrays))) if written is not None else ""
    write = (written.text if written is not None else "") + ("last[position] = observation\n" if rotates else "")
    write = write or "pass\n"  # of a space without parts
    before, after = _MODES[mode]
    parts = {"before": before, "after": after, "targets": f"{targets}= rows[buffer]" if targets else "", "write": write}
    text = _STEP
    for name, part in parts.items():
        text = re.sub(rf"( *){{{name}}}", lambda at: indent(part, at[1]), text)  # noqa: B023
    functions: tuple[Step, Put] = _made(text, {} if written is None else written.names)(share)
    return functions


def _made(text: str, names: dict[str, Any]) -> Any:
    """The function `make` of a text, which tracebacks show."""
    name = f"<step of a share, {zlib.crc32(text.encode()):x}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"ndarray": np.ndarray, "int64": np.int64, "asarray": np.asarray, "fit": fit, "kept": kept,
                 "kept_infos": kept_infos, **names}  # fmt: skip
    exec(compile(text, name, "exec"), namespace)
    return namespace["make"]


def fit(rows: Any, position: int, value: Any) -> None:
    """Put an observation into its row that is not as its space says, if NumPy calls it of the same kind."""
    row = rows[position] if isinstance(rows, list) else np.asarray(rows)[position, ...]
    value = np.asarray(value)
    if value.shape != row.shape:
        raise ValueError(f"an observation has shape {value.shape}, its space has {row.shape}")
    np.copyto(row, value, casting="same_kind")


def kept(value: Any) -> Any:
    """A copy of an observation or of infos, to which the environment may write again."""
    if type(value) is np.ndarray and not value.dtype.hasobject:
        return value.copy()
    return deepcopy(value)


def kept_infos(infos: Any) -> Any:
    """The same of infos, of which only dictionaries and arrays are copied."""
    if isinstance(infos, dict):
        return {key: kept_infos(value) for key, value in infos.items()}
    return infos.copy() if isinstance(infos, np.ndarray) else infos
