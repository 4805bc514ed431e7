"""How an environment is named, and made: registered ones, those of a module or a file, made-up ones.

Owns the names that the sampling workloads take as `env`:

- `CartPole-v1`, `package.module:CartPole-v1`: an id in Gymnasium's registry, of Gymnasium itself or of a module
- `package.module:make`, `path/to/file.py:make`: what a function or class without arguments returns, an environment of
  Gymnasium or a parallel one of PettingZoo
- `busy:2ms`, `busy:20us:84x84x4`: a made-up environment, with the processor time of a step and the shape of an
  observation of bytes
- `busy:1ms-4ms`: the same, with times of steps that are drawn between these two
"""

import contextlib
import copy
import difflib
import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np

from reactorlib.tool import user_module
from reactorlib.tool.standard_output import to_stderr
from workloads import made_up
from workloads.all_agents import AllAgents
from workloads.parameter import ParameterError

MADE_UP = "busy:"
_NOTEBOOK = ".ipynb"
_NEAR = 0.75  # names of files that are more alike than this are hints; missing.py and sibling.py have 0.7
_EXPECTED = "expected an id that it registers, or a function or class that makes an environment"


def whole(name: str) -> str:
    """The name, with the path of a file that it may contain made absolute: workers may have another directory."""
    module, colon, inner = name.rpartition(":")
    return f"{Path(module).resolve()}:{inner}" if colon and module.endswith(".py") else name


def known(name: str) -> bool:
    """Whether there is such an environment; imports the module or file of its name, which prints on standard error.

    Raises ParameterError where that fails, or has nothing of the kind.
    """
    if "," in name:
        raise ParameterError(f"env: {name} has a comma, which stands between two values elsewhere")
    if name.startswith(MADE_UP):
        made_up.parsed(name.removeprefix(MADE_UP))
        return True
    module, colon, inner = name.rpartition(":")
    if (module or name).endswith(_NOTEBOOK):
        raise ParameterError(f"env: {_notebook_hint(Path(module or name))}")
    if not colon and name.endswith(".py"):
        raise ParameterError(f"env: {name} is a file; {_EXPECTED}, as in {Path(name).name}:MyEnv")
    if not colon:
        return name in gymnasium.registry
    with to_stderr():
        imported = _imported(module)
    held = getattr(imported, inner, None)
    if inner not in gymnasium.registry and not callable(held):
        what = "" if held is None else f", which is of type {type(held).__name__}"
        if isinstance(held, gymnasium.Env):
            what = ", which is made already"
        near = _nearest(inner, imported)
        raise ParameterError(f"env: {module} makes no {inner}{what}; {f'did you mean {near}?' if near else _EXPECTED}")
    return True


def _nearest(name: str, module: ModuleType) -> str:
    """The class or function that a module defines whose name is most like this one; else its only environment."""
    own = {key for key, value in vars(module).items()
           if callable(value) and getattr(value, "__module__", "") == module.__name__}  # fmt: skip
    near = difflib.get_close_matches(name, own, n=1, cutoff=0.6)
    classes = [
        key for key in own if isinstance(vars(module)[key], type) and issubclass(vars(module)[key], gymnasium.Env)
    ]
    return near[0] if near else classes[0] if len(classes) == 1 else ""


def make(name: str, options: Mapping[str, Any]) -> gymnasium.Env[Any, Any]:
    """A new environment of a known name; raises ParameterError when it can't be made."""
    try:
        if name.startswith(MADE_UP):
            return made_up.Busy(*made_up.parsed(name.removeprefix(MADE_UP)))
        module, colon, inner = name.rpartition(":")
        maker = getattr(_imported(module), inner, None) if colon else None
        if maker is None:
            return gymnasium.make(inner, **options)
        return _as_gymnasium(name, _called(name, maker))
    except gymnasium.error.DependencyNotInstalled as error:
        raise ParameterError(f"env: {name} cannot be made: {str(error).splitlines()[0]}") from error


def _called(name: str, maker: Callable[[], Any]) -> Any:
    """Return the result of a function or class, called without arguments. ParameterError if it needs any."""
    try:
        inspect.signature(maker).bind()
    except TypeError as error:
        module = name.rpartition(":")[0]
        raise ParameterError(
            f"env: {name} needs arguments ({error}); write a function without any that makes it, def make_env(), and "
            f"name that: {module}:make_env"
        ) from None
    except ValueError:
        pass  # a callable without a signature can still be called
    return maker()


def check(made: gymnasium.Env[Any, Any], seed: int) -> None:
    """Reset and step it once, and close it; raises ParameterError where that is not what Gymnasium 1 asks for."""
    for name in ("action_space", "observation_space"):
        if not isinstance(getattr(made, name, None), gymnasium.Space):
            raise ParameterError(
                f"env: {type(made.unwrapped).__name__} has no {name}; expected a gymnasium.spaces.Space"
            )
    reset, step = "reset(seed=...)", "step()"
    begun = made.reset(seed=seed)
    _check_tuple(made, reset, begun, "observation, info")
    _check_observation(made, reset, begun[0])
    told = made.step(random_actions(made, seed)())
    _check_tuple(made, step, told, "observation, reward, terminated, truncated, info")
    _check_observation(made, step, told[0])
    if not isinstance(made, AllAgents):
        _check_reward(made, told[1])
    made.close()


def _check_tuple(made: gymnasium.Env[Any, Any], what: str, told: Any, expected: str) -> None:
    count = len(told) if isinstance(told, tuple) else None
    if count != len(expected.split(", ")):
        got = f"a {type(told).__name__}" if count is None else f"{count} values"
        raise ParameterError(
            f"env: {type(made.unwrapped).__name__}.{what} returned {got}; Gymnasium 1 expects {expected} (Gym before "
            "0.26 had others)"
        )


def _check_observation(made: gymnasium.Env[Any, Any], what: str, observation: Any) -> None:
    expected, got = made.observation_space.shape, np.shape(observation)
    if isinstance(made.observation_space, gymnasium.spaces.Box) and got != expected:
        raise ParameterError(
            f"env: {type(made.unwrapped).__name__}.{what} returned an observation of shape {got}; its "
            f"observation_space has shape {expected}"
        )


def _check_reward(made: gymnasium.Env[Any, Any], reward: Any) -> None:
    if np.shape(reward) == ():
        with contextlib.suppress(TypeError, ValueError):
            float(reward)
            return
    raise ParameterError(
        f"env: {type(made.unwrapped).__name__}.step() returned the reward {reward!r}, which is "
        f"a {type(reward).__name__} of shape {np.shape(reward)}; expected a number, as in float(reward)"
    )


def _as_gymnasium(name: str, made: Any) -> gymnasium.Env[Any, Any]:
    if isinstance(made, gymnasium.Env):
        return made
    if hasattr(made, "agent_iter"):
        raise ParameterError(f"env: {name} takes turns; expected a parallel one: pettingzoo.utils.aec_to_parallel(env)")
    if hasattr(made, "possible_agents"):
        return AllAgents(made)
    raise ParameterError(
        f"env: {name} returned {type(made).__name__}; expected an environment of Gymnasium or PettingZoo (parallel)"
    )


def random_actions(environment: gymnasium.Env[Any, Any], seed: int) -> Callable[[], Any]:
    """A source of the environment's actions: a copy of its action space with this seed. Many environments declare
    their spaces once for the whole class, and would draw from each other's.
    """
    space = copy.deepcopy(environment.action_space)
    space.seed(seed)
    return space.sample


def _imported(module: str) -> ModuleType:
    """The module of this name or file."""
    try:
        return _of_file(Path(module)) if module.endswith(".py") else user_module.module(module)
    except FileNotFoundError as error:
        if error.filename != module:
            raise ParameterError(f"env: {user_module.failure(module, error)}") from error
        raise ParameterError(f"env: no file {module}{_hint_of_file(Path(module))}") from error
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise ParameterError(f"env: {user_module.failure(module, error)}") from error
        raise ParameterError(
            f"env: no module {module}; a file is named with its suffix, as in {module.rpartition('.')[2]}.py:MyEnv, "
            f"and a package has to be installed into {sys.prefix}"
        ) from error
    except (Exception, SystemExit) as error:
        raise ParameterError(f"env: {user_module.failure(module, error)}") from error


def _hint_of_file(path: Path) -> str:
    """The end of a message about a file that is missing: the nearest name beside it, or its folder."""
    if path.with_suffix(_NOTEBOOK).exists():
        return f"; {_notebook_hint(path.with_suffix(_NOTEBOOK))}"
    if not path.parent.is_dir():
        return f": there is no folder {path.parent}"
    near = difflib.get_close_matches(path.name, [one.name for one in path.parent.glob("*.py")], n=1, cutoff=_NEAR)
    return f"; did you mean {near[0]}?" if near else ""


def _notebook_hint(path: Path) -> str:
    return f"a notebook cannot be imported: save it as a file first, jupyter nbconvert --to script {path}"


def _of_file(path: Path) -> ModuleType:
    """Load a file as a module whose name is the same in every process, because values of its classes are pickled."""
    beside = str(path.parent)
    if beside not in sys.path:
        sys.path.append(beside)  # for what it imports from there
    return user_module.module(f"environment_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}", path)
