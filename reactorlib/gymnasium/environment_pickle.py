"""Pickles of environments, and of results that hold classes or functions of the main module."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from io import BytesIO
from types import FunctionType
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
from gymnasium.utils import EzPickle


def known_to_all(forked: bool) -> dict[str, Any]:
    """Classes and functions of the main module that every process has, by name: those of the time of forking."""
    everything = vars(sys.modules["__main__"]) if forked else {}
    return {name: value for name, value in everything.items() if isinstance(value, type | FunctionType)}


class KnowingPickler(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle takes along what a main module defines, which is another class then; not what both sides know."""

    def __init__(self, file: BytesIO, known: Mapping[str, Any]) -> None:
        super().__init__(file, protocol=5)
        self._known = known

    def reducer_override(self, obj: Any) -> Any:
        """By name, where both sides have it."""
        if isinstance(obj, type | FunctionType) and self._known.get(obj.__qualname__) is obj:
            return NotImplemented
        return super().reducer_override(obj)


class _EnvironmentPickler(KnowingPickler):
    def reducer_override(self, obj: Any) -> Any:
        """Refuse an object whose pickle is a new one, made with the same arguments: it loses the state."""
        if isinstance(obj, EzPickle) and type(obj).__getstate__ is EzPickle.__getstate__:
            raise TypeError(
                f"the pickle of {type(obj).__name__} holds the arguments of its constructor only (EzPickle)"
            )
        return super().reducer_override(obj)


def pickled(env: Any) -> bytes | str:
    """The pickle of an environment, or the reason why there is none."""
    file = BytesIO()
    try:
        _EnvironmentPickler(file, known_to_all(True)).dump(env)
    except Exception as error:  # noqa: BLE001  # whatever the environment's parts raise
        return f"{type(error).__name__}: {error}"
    return file.getvalue()
