"""Pickles of environments, and of results that hold classes or functions of the main module."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Collection, Mapping
from copyreg import __newobj__  # type: ignore[attr-defined]
from io import BytesIO
from types import FunctionType
from typing import Any
from weakref import WeakSet

import cloudpickle  # type: ignore[import-untyped]
from gymnasium.utils import EzPickle

from reactorlib.gymnasium.identity import VectorPlaces
from reactorlib.gymnasium.isolation import put, states


def known_to_all(forked: bool) -> dict[str, Any]:
    """Classes and functions of the main module that every process has, by name: those of the time of forking."""
    everything = vars(sys.modules["__main__"]) if forked else {}
    return {name: value for name, value in everything.items() if isinstance(value, type | FunctionType)}


class KnowingPickler(cloudpickle.Pickler):  # type: ignore[misc]
    """A cloudpickle that names the classes and functions in `known` instead of copying them, as both sides have them.

    A copy of a class of the main module would be another class for its reader.
    """

    def __init__(self, file: BytesIO, known: Mapping[str, Any]) -> None:
        super().__init__(file, protocol=5)
        self._known = known

    def reducer_override(self, obj: Any) -> Any:
        """By name, where both sides have it."""
        if isinstance(obj, type | FunctionType) and self._known.get(obj.__qualname__) is obj:
            return NotImplemented
        return super().reducer_override(obj)


class _EnvironmentPickler(KnowingPickler):
    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, known_to_all(True))
        self.kinds: set[type] = set()  # of objects

    def reducer_override(self, obj: Any) -> Any:
        """Refuse an object whose pickle loses its state."""
        kind = type(obj)
        self.kinds.add(kind)
        if kind is VectorPlaces:
            return VectorPlaces, ()  # the state of an environment does not depend on the vector that it was in
        if hasattr(kind, "__getattr__") and not hasattr(kind, "__setstate__") and _answers_pickle(obj):
            raise TypeError(
                f"the pickle of {kind.__name__} cannot be loaded, or loses its state: {kind.__name__}.__getattr__ "
                "should raise AttributeError for names that begin with an underscore"
            )
        if getattr(kind, "__getstate__", None) is EzPickle.__getstate__:
            raise TypeError(f"the pickle of {kind.__name__} holds the arguments of its constructor only (EzPickle)")
        return super().reducer_override(obj)


def _answers_pickle(obj: Any) -> bool:
    """Whether a `__getattr__` answers or fails when pickle asks a new object for `__setstate__`, without attributes."""
    if isinstance(obj, type) or type(reduced := obj.__reduce_ex__(5)) is not tuple:
        return False
    make, arguments, *rest = reduced
    if make is not __newobj__ or not rest or rest[0] is None:  # it has a way of its own, or no attributes
        return False
    try:
        return hasattr(make(*arguments), "__setstate__")
    except Exception:  # noqa: BLE001  # whatever the object's class raises
        return True


def pickled(env: Any) -> bytes | str:
    """The pickle of an environment that could be loaded, or the reason why there is none."""
    file = BytesIO()
    pickler = _EnvironmentPickler(file)
    try:
        pickler.dump(env)
        _try_to_load(file.getvalue(), pickler.kinds)
    except Exception as error:  # noqa: BLE001  # whatever the environment's parts raise
        return f"{type(error).__name__}: {error}"
    return file.getvalue()


_loaded: WeakSet[type] = WeakSet()  # classes of objects that could be loaded


def _try_to_load(data: bytes, kinds: Collection[type]) -> None:
    """Load a pickle with objects of new classes. TypeError says what keeps it from being loaded.

    Nothing remains of the copy. One with a destructor could release what the environment holds, and is not made.
    """
    if all(kind in _loaded for kind in kinds) or any(hasattr(kind, "__del__") for kind in kinds):
        return
    before = states()
    try:
        pickle.loads(data)
        _loaded.update(kinds)
    except Exception as error:
        raise TypeError(f"its pickle cannot be loaded ({type(error).__name__}: {error})") from error
    finally:
        put(before)
