"""How an environment is named, and made: registered ones, those of a module or a file, made-up ones.

Owns the names that the sampling workloads take as `env`:

- `CartPole-v1`: an id in Gymnasium's registry; `package.module:CartPole-v1`: one that a module registers
- `package.module:make`, `path/to/file.py:make`: what a function or class without arguments returns, an environment of
  Gymnasium or a parallel one of PettingZoo
- `busy:2ms`, `busy:20us:84x84x4`: one that is made up, which computes for so long in a step and returns an observation
  of bytes, of this shape
"""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium

from workloads import made_up
from workloads.all_agents import AllAgents
from workloads.parameter import ParameterError

MADE_UP = "busy:"
_EXPECTED = "expected an id that it registers, or a function or class that makes an environment"


def whole(name: str) -> str:
    """The name, with the path of a file that it may contain made absolute: workers may have another directory."""
    module, colon, inner = name.rpartition(":")
    return f"{Path(module).resolve()}:{inner}" if colon and module.endswith(".py") else name


def known(name: str) -> bool:
    """Whether there is such an environment; imports the module or file of its name.

    Raises ParameterError where that fails, or has nothing of the kind.
    """
    if "," in name:
        raise ParameterError(f"env: {name} has a comma, which stands between two values elsewhere")
    if name.startswith(MADE_UP):
        made_up.parsed(name.removeprefix(MADE_UP))
        return True
    module, colon, inner = name.rpartition(":")
    if not colon:
        return name in gymnasium.registry
    maker = getattr(_imported(module), inner, None)
    if inner not in gymnasium.registry and not callable(maker):
        raise ParameterError(f"env: {module} has no {inner}; {_EXPECTED}")
    return True


def make(name: str, options: Mapping[str, Any]) -> gymnasium.Env[Any, Any]:
    """A new environment of a known name; raises ParameterError when it can't be made."""
    try:
        if name.startswith(MADE_UP):
            return made_up.Busy(*made_up.parsed(name.removeprefix(MADE_UP)))
        module, colon, inner = name.rpartition(":")
        maker = getattr(_imported(module), inner, None) if colon else None
        if maker is None:
            return gymnasium.make(inner, **options)
        return _as_gymnasium(name, maker())
    except gymnasium.error.DependencyNotInstalled as error:
        raise ParameterError(f"env: {name} cannot be made: {str(error).splitlines()[0]}") from error


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


def _imported(module: str) -> ModuleType:
    """The module of this name or file."""
    try:
        return _of_file(Path(module)) if module.endswith(".py") else importlib.import_module(module)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ParameterError(f"env: {module} cannot be imported: {reason}") from error


def _of_file(path: Path) -> ModuleType:
    """What a file defines, as a module whose name is the same in every process: values of its classes are pickled."""
    name = f"environment_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        beside = str(path.parent)
        if beside not in sys.path:
            sys.path.append(beside)  # for what it imports from there
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
