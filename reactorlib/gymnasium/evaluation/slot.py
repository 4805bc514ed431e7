"""A slot of an evaluation: an environment that plays episodes one after the other, and reports each one when it ends.

It lives where its worker is. Within one step it ends an episode and begins the next. The caller learns of an episode
by its row in `info["rows"]`. No other infos travel.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from itertools import count, repeat
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from reactorlib.gymnasium.evaluation.rows import ERROR, TERMINATED, TRUNCATED, EpisodeRow
from reactorlib.gymnasium.identity import SameEnvironmentError, placed
from reactorlib.worker.canonical_form import canonical

SUCCESS = ("is_success", "success")  # keys of an info
_TRIED = 1000  # episodes of a slot that is given one seed, to be timed
_LONGEST = 300  # characters of an error

_numbers = count()  # of the environments that this process makes


def made(make: Callable[[], Any]) -> Any:
    """A new environment. Raises SameEnvironmentError if it was made before, TypeError if it is none."""
    return placed(lambda: _checked(make()), "evaluation", next(_numbers))


def _checked(env: Any) -> Any:
    if not isinstance(env, gymnasium.Env):
        raise TypeError(f"`make_env` returned a value of type {type(env).__name__}, not an environment")
    return env


class Slot(gymnasium.Env[Any, Any]):
    """Plays the episodes that `reset(seed=...)` is given, pairs of index and seed. Between them it is idle.

    It makes an environment when an episode begins: for each one, unless it is to `reuse` them. `like` are the facts of
    such an environment, with an observation for slots that have had none.
    """

    def __init__(self, make: Callable[[], Any], like: Any, max_steps: int | None, reuse: bool) -> None:
        self.metadata, self.render_mode, self.action_space, self.observation_space, self._observation = like
        self._make, self._max_steps, self._reuse = make, max_steps, reuse
        self._env: Any = None
        self._episodes: Iterable[tuple[int, int]] = iter(())
        self._is_idle = True

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin the first of these episodes."""
        self._episodes = iter(seed) if isinstance(seed, list) else repeat((0, seed), _TRIED)
        return self._begun([])

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step the episode. The vector learns of no ends, as the next one has begun."""
        if self._is_idle:
            return self._observation, 0.0, False, False, {}
        try:
            observation, reward, terminated, truncated, info = self._env.step(action)
            self._return += float(reward)
            self._length += 1
            if not (terminated or truncated or self._length == self._max_steps):
                return observation, 0.0, False, False, {}
            ended = self._row(TERMINATED if terminated else TRUNCATED, success=_success(info))
        except Exception as error:  # noqa: BLE001  # the environment's: it is a row
            ended = self._failed(error)
        if not self._reuse:
            self.close()
        observation, told = self._begun([ended])
        return observation, 0.0, False, False, told

    def _begun(self, rows: list[tuple[Any, ...]]) -> tuple[Any, dict[str, Any]]:
        """Begin the next episode that does not fail at once. Returns an observation and the rows of ended ones."""
        self._is_idle = True
        for self._number, self._seed in self._episodes:  # noqa: B020
            self._length, self._return, self._first = 0, 0.0, None
            try:
                if self._env is None:
                    self._env = made(self._make)
                self._env.action_space.seed(self._seed)  # `reset` does not
                self._observation, _ = self._env.reset(seed=self._seed)
                self._first = blake2b(canonical(self._observation), digest_size=8).hexdigest()
                self._is_idle = False
                break
            except SameEnvironmentError:
                raise
            except Exception as error:  # noqa: BLE001
                rows.append(self._failed(error))
        return self._observation, {"rows": [tuple(row) for row in rows]} if rows else {}

    def _row(self, ended: str, success: bool | None = None, error: str | None = None) -> EpisodeRow:
        return EpisodeRow(self._number, self._seed, self._length, self._return, success, self._first, ended, error)

    def _failed(self, error: Exception) -> EpisodeRow:
        """The row of an episode that raised. Nothing is known of its environment, so another one is made."""
        self.close()
        last = traceback.extract_tb(error.__traceback__)[-1]
        words = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]
        return self._row(ERROR, error=f"{words} ({Path(last.filename).name}:{last.lineno})")

    def close(self) -> None:
        """Close the environment, and ignore its errors: its row is known. The next episode makes another one."""
        env, self._env = self._env, None
        if env is not None:
            with suppress(Exception):
                env.close()


def _success(info: dict[str, Any]) -> bool | None:
    said = next((info[key] for key in SUCCESS if key in info), None)
    return None if said is None else bool(np.all(said))
