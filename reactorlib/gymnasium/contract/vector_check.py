"""Any vector environment against Gymnasium's SyncVectorEnv of the same environments: every rule of the contract.

The checker looks at what a user sees, never inside. `probes` are environments that show what ordinary ones hide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import partial
from operator import attrgetter
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import AlreadyPendingCallError, NoAsyncCallError
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from reactorlib.gymnasium.contract.probes import PROBES, TWINS
from reactorlib.gymnasium.isolation import check_isolation

Make = Callable[[], Any]
Act = Callable[[Any], Any]  # on an environment
ALONE_S = 30.0  # for the check of the environment itself
RESET, STEP = ("observations", "infos"), ("observations", "rewards", "terminations", "truncations", "infos")  # results


def check_vector_env(env: Any, env_fns: Sequence[Make] | None = None, *, steps: int = 60, seed: int = 1) -> None:
    """Raise AssertionError with every fault that is found in a vector environment. It is closed afterwards.

    `env_fns` make the same environments; by default those that it was made of, or `gymnasium.make(env.spec.id)`. `env`
    may also be a class, or a function of `env_fns` and `autoreset_mode=`. It is then checked with all probes. Where a
    fault is found, `check_isolation` also looks for one of the environment itself. That takes some seconds, and its
    plays write the files that the environment writes.

    >>> import gymnasium
    >>> check_vector_env(gymnasium.make_vec("CartPole-v1", 3, vectorization_mode="sync"))
    >>> class Rewardless(gymnasium.vector.SyncVectorEnv):
    ...     def step(self, actions):
    ...         observations, rewards, *rest = super().step(actions)
    ...         return observations, 0 * rewards.astype(int), *rest
    >>> check_vector_env(Rewardless([lambda: gymnasium.make("CartPole-v1")] * 3))
    Traceback (most recent call last):
    ...
    AssertionError: 1 fault of Rewardless(num_envs=3):
      step: rewards have dtype int64, not float64
    """
    if isinstance(env, VectorEnv):
        env_fns = env_fns or _functions_of(env)
        name, faults = str(env), find_faults(env, env_fns, steps=steps, seed=seed)
        faults += _of_the_environment(env_fns[0], steps, seed) if faults else []
    else:
        name, faults = getattr(env, "__name__", str(env)), find_all_faults(env, steps=steps, seed=seed)
    if faults:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise AssertionError("\n  ".join([f"{count} of {name}:", *faults]))


def _of_the_environment(make: Make, steps: int, seed: int) -> list[str]:
    """The reasons why the environment differs from itself, so that no vector of it can be right."""
    report, error = _outcome(lambda one: check_isolation(one, steps=steps, seed=seed, limit_s=ALONE_S), make)
    if report is None:
        return [f"the environment by itself is not checked: {' '.join(str(error).split())}"]
    return [f"the environment is at fault, not the vector: {one}" for one in report.findings]


def find_all_faults(make_vector: Callable[..., Any], *, steps: int = 60, seed: int = 1) -> list[str]:
    """The faults of the vector environments that this makes of the probes, in every autoreset mode."""
    faults: list[str] = []
    for name, probe in PROBES.items():
        for mode in AutoresetMode:
            env_fns = [partial(probe, number) for number in range(3)]
            alike = [partial(TWINS.get(name, probe), number) for number in range(3)]
            env, error = _outcome(partial(make_vector, autoreset_mode=mode), env_fns)
            cannot = [f"it cannot be made: {_words(error)}"]
            found = cannot if error else find_faults(env, alike, steps=steps, seed=seed)
            faults += [f"{name}, {mode.value}: {fault}" for fault in found]
    return faults


def find_faults(env: Any, env_fns: Sequence[Make] | None = None, *, steps: int = 60, seed: int = 1) -> list[str]:
    """The faults of a vector environment, in words. It is closed afterwards."""
    check = _Check(env, env_fns or _functions_of(env), steps, seed)
    try:
        check.run()
    finally:
        check.twin.close()
        with suppress(Exception):
            env.close(**({"terminate": True} if hasattr(env, "step_async") and check.faults else {}))
    return check.faults


def _functions_of(env: Any) -> list[Make]:
    found = getattr(env.unwrapped, "env_fns", None)
    if found is not None:
        return list(found)
    if env.spec is None:
        raise ValueError(f"{env} does not say what it is made of: give env_fns=")
    vectors = ("num_envs", "vectorization_mode", "vector_kwargs")
    arguments = {name: value for name, value in env.spec.kwargs.items() if name not in vectors}
    return [lambda: gymnasium.make(env.spec.id, **arguments)] * env.num_envs


class _Stop(Exception):  # noqa: N818  # ends a part of the check, whose faults are known
    """Later results would follow from the fault that was found."""


class _Check:
    """Does the same with a vector environment and its twin, a SyncVectorEnv, and keeps what differs."""

    def __init__(self, env: Any, env_fns: Sequence[Make], steps: int, seed: int) -> None:
        self.env, self.steps, self.seed = env, steps, seed
        self.faults: list[str] = []
        self.mode = env.metadata.get("autoreset_mode")
        known = self.mode if isinstance(self.mode, AutoresetMode) else AutoresetMode.NEXT_STEP
        observation_mode = getattr(env, "observation_mode", "same")
        self.twin: Any = SyncVectorEnv(list(env_fns), observation_mode=observation_mode, autoreset_mode=known)
        self.kept: list[tuple[str, Any, Any]] = []  # a result, and a copy made at once

    def run(self) -> None:
        """All checks: the calls, until one finds what makes the others meaningless, and what remains of them."""
        self.twin.action_space.seed(self.seed)
        for part in (self._calls, self._lasting, self._closing):
            with suppress(_Stop):
                part()

    def fault(self, text: str) -> None:
        if text not in self.faults:
            self.faults.append(text)

    def _calls(self) -> None:
        n, seed = self.env.num_envs, self.seed
        self._attributes()
        self._reset("reset(seed)", seed=seed)
        self._walk("step", self.steps)
        self._reset("reset(list of seeds)", seed=[seed + 7 * number for number in range(n)])
        self._walk("step after a list of seeds", self.steps // 4)
        self._walk("step", 10 * self.steps, to_an_end=True)
        self._reset("reset() in the middle of an end", seed=seed + 1)
        self._walk("step after reset() in the middle of an end", 5)
        if self.mode is AutoresetMode.DISABLED:
            self._masks()
        if hasattr(self.env, "step_async"):
            self._halves("reset", RESET, seed=seed)
            self._halves("step", STEP, actions=self.twin.action_space.sample())
        self._each()

    def _attributes(self) -> None:
        if not isinstance(self.env, VectorEnv):
            self.fault(f"it is no gymnasium.vector.VectorEnv but a {type(self.env).__name__}")
        if not isinstance(self.mode, AutoresetMode):
            self.fault(f"metadata['autoreset_mode'] is {self.mode!r}, no AutoresetMode")
        for name in ("num_envs", "single_observation_space", "single_action_space", "observation_space", "action_space",
                     "render_mode", "closed"):  # fmt: skip
            self._same(name, attrgetter(name))

    def _both(self, what: str, act: Act) -> tuple[Any, Any]:
        """The result of the call, and that of the twin: None where both raise the same."""
        expected, failed = _outcome(act, self.twin)
        got, error = _outcome(act, self.env)
        self._raises(what, error, failed)
        return got, expected

    def _raises(self, what: str, error: Exception | None, expected: Exception | None) -> None:
        """An error that is not of the expected kind, or one without the other, is a fault and the end of this part."""
        if isinstance(error, type(expected)):
            return
        if error is None:
            self.fault(f"{what} is not refused with {_words(expected)}")
        else:
            self.fault(f"{what} raises {_words(error)}" + (f", not {_words(expected)}" if expected else ""))
        raise _Stop

    def _same(self, what: str, act: Act) -> None:
        if fault := difference(*self._both(what, act), what):
            self.fault(fault)

    def _reset(self, what: str, **arguments: Any) -> None:
        self._results(what, RESET, lambda env: env.reset(**deepcopy(arguments)))

    def _walk(self, what: str, steps: int, to_an_end: bool = False) -> None:
        for _ in range(steps):
            actions = self.twin.action_space.sample()
            expected = self._results(what, STEP, lambda env: env.step(deepcopy(actions)))  # noqa: B023
            ended = np.logical_or(expected[2], expected[3])
            if to_an_end and ended.any():
                return
            if self.mode is AutoresetMode.DISABLED and ended.any():
                self._reset("reset(reset_mask)", options={"reset_mask": ended})

    def _results(self, what: str, names: Sequence[str], act: Act) -> Any:
        """Compare what both return, which has these parts. Returns that of the twin."""
        got, expected = self._both(what, act)
        if expected is None:
            raise _Stop
        if not isinstance(got, tuple) or len(got) != len(names):
            self.fault(f"{what} does not return ({', '.join(names)})")
            raise _Stop
        before = len(self.faults)
        for infos in (got[-1], expected[-1]):
            _leave_times(infos)
        for name, one, other in zip(names, got, expected, strict=True):
            where = f"{what}: {name}"
            if (found := difference(one, other, where)) is not None:
                self.fault(found)
            elif name == "observations" and _is_within(self.twin, other) > _is_within(self.env, one):
                self.fault(f"{where} are not in observation_space")
        if len(self.faults) > before:
            raise _Stop
        if len(self.kept) < 200 and getattr(self.env, "copy", True):
            self.kept.append((what, got, deepcopy(got)))
        return expected

    def _masks(self) -> None:
        mask = np.arange(self.env.num_envs) % 2 == 0
        self._reset("reset(reset_mask, seed)", seed=self.seed, options={"reset_mask": mask})
        self._walk("step after a reset mask", 5)
        wrong = {"that is a list": mask.tolist(), "of integers": mask + 0, "of the wrong shape": mask[1:],
                 "without True": np.zeros_like(mask)}  # fmt: skip
        for what, one in wrong.items():
            self._same(f"a reset_mask {what}", lambda env: env.reset(options={"reset_mask": one}))  # noqa: B023

    def _halves(self, name: str, parts: Sequence[str], **arguments: Any) -> None:
        """The two halves of a call, by AsyncVectorEnv's rules."""
        begin, wait = (getattr(self.env, f"{name}_{half}") for half in ("async", "wait"))
        early = _outcome(lambda _: wait(), None)[1]
        self._raises(f"{name}_wait() without {name}_async()", early, NoAsyncCallError("nothing pends", name))
        begin(**deepcopy(arguments))
        again = _outcome(lambda _: begin(**arguments), None)[1]
        self._raises(f"{name}_async() twice", again, AlreadyPendingCallError("the first pends", name))
        whole = partial(getattr(self.twin, name), **deepcopy(arguments))
        self._results(f"{name}_wait", parts, lambda env: wait() if env is self.env else whole())

    def _each(self) -> None:
        """The values for each environment: seeds, attributes, results of calls."""
        n = self.env.num_envs
        self._same("get_attr('render_mode')", lambda env: env.get_attr("render_mode"))
        for values in (list(range(n)), "one for all"):
            self._both("set_attr", lambda env: env.set_attr("attribute_of_check", values))  # noqa: B023
            self._same("get_attr of what set_attr set", lambda env: env.get_attr("attribute_of_check"))
        self._same("np_random_seed", attrgetter("np_random_seed"))
        self._same("np_random", lambda env: [one.bit_generator.state for one in env.np_random])
        self._same("call('has_wrapper_attr')", lambda env: env.call("has_wrapper_attr", "render_mode"))
        for wrong in (n - 1, n + 1):
            self._same(f"a list of {wrong} seeds for {n} environments", lambda env: env.reset(seed=[1] * wrong))  # noqa: B023
            self._same(f"set_attr with {wrong} values for {n} environments", lambda env: env.set_attr("x", [1] * wrong))  # noqa: B023

    def _lasting(self) -> None:
        for what, got, copy in self.kept:
            if difference(got, copy, what) is not None:
                self.fault(f"what {what} returned is overwritten by a later call")
                return

    def _closing(self) -> None:
        for _ in range(2):
            self._same("close()", lambda env: env.close())
        self._same("closed after close()", attrgetter("closed"))


def _is_within(env: Any, observations: Any) -> bool:
    return bool(env.observation_space.contains(observations))


def _leave_times(infos: Any) -> None:
    """Drop what RecordEpisodeStatistics and Monitor measure: the time that an episode took."""
    for part in (infos, infos.get("final_info")) if isinstance(infos, dict) else ():
        episode = part.get("episode") if isinstance(part, dict) else None
        if isinstance(episode, dict) and episode.keys() >= {"r", "l", "t"}:
            episode["t"] = None


def difference(got: Any, expected: Any, where: str) -> str | None:
    """The first difference of two values or their types, in words. None if they are equal."""
    if isinstance(expected, np.ndarray) and isinstance(got, np.ndarray) and got.dtype != expected.dtype:
        return f"{where} have dtype {got.dtype}, not {expected.dtype}"
    if type(got) is not type(expected):
        return f"{where} are of type {type(got).__name__}, not {type(expected).__name__}"
    if isinstance(expected, dict):
        if set(got) != set(expected):
            return f"{where} have the keys {list(got)}, not {list(expected)}"
        pairs = [(got[key], expected[key], f"{where}[{key!r}]") for key in expected]
    elif isinstance(expected, tuple | list):
        if len(got) != len(expected):
            return f"{where} are {len(got)}, not {len(expected)}"
        pairs = [(*pair, f"{where}[{at}]") for at, pair in enumerate(zip(got, expected, strict=True))]
    elif isinstance(expected, np.ndarray):
        if got.shape != expected.shape:
            return f"{where} have shape {got.shape}, not {expected.shape}"
        if expected.dtype != object:
            same = got.tobytes() == expected.tobytes() or np.array_equal(got, expected)
            return None if same else f"{where} are {_short(got)}, not {_short(expected)}"
        pairs = [(*pair, f"{where}[{at}]") for at, pair in enumerate(zip(got.flat, expected.flat, strict=True))]
    else:
        same = got is expected or bool(np.all(got == expected)) or (got != got and expected != expected)  # NaN
        return None if same else f"{where} are {_short(got)}, not {_short(expected)}"
    return next((found for pair in pairs if (found := difference(*pair)) is not None), None)


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 100 else text[:97] + "..."


def _outcome(act: Act, env: Any) -> tuple[Any, Exception | None]:
    """The result and None, or None and the error."""
    try:
        return act(env), None
    except Exception as error:  # noqa: BLE001  # the faults of others are looked for
        return None, error


def _words(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {_short(str(error))[1:-1]}"
