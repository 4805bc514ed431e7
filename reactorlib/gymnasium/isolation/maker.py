"""How an environment is named: by its id, by a module that registers it or makes it, or by a file and a function."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium


def maker(target: str | Callable[[], Any]) -> Callable[[], Any]:
    """The function that makes an environment of this name; a function is its own. Imports what the name names.

    >>> maker("CartPole-v1")().spec.id, maker("gymnasium.envs.classic_control:CartPoleEnv")().unwrapped.gravity
    ('CartPole-v1', 9.8)
    """
    if not isinstance(target, str):
        return target
    place, colon, name = target.rpartition(":")
    module = _module(place) if colon else None
    made: Any = getattr(module, name, None)
    return made if callable(made) else partial(gymnasium.make, name)


def _module(place: str) -> Any:
    if not place.endswith(".py"):
        return importlib.import_module(place)
    path = Path(place).resolve()
    sys.path.append(str(path.parent))  # for what it imports from there
    loaded = sys.modules.get(path.stem)
    is_free = loaded is None or getattr(loaded, "__file__", None) == str(path)
    name = path.stem if is_free else f"{path.stem}_program"  # a file may be called random.py
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
