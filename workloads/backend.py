"""Which backends exist: `backends.toml` lists them, and others are named from outside. Imports none of them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workloads import outside
from workloads.parameter import ParameterError, unknown

# Interpreters beside the suite's own: one without a GIL, and one with RLlib, which needs another Gymnasium.
FREE_THREADED = "free-threaded"
RLLIB = "rllib"
_ADDED = "added"


@dataclass(frozen=True)
class Backend:
    """A way to run the workloads that have the module in their package; `options` are for its `run`.

    `note`: what to know about its numbers before comparing them. `matched`: whether it computes exactly what the
    serial loop does, so that their digests are equal. If not, the note says what differs. `role`: "main" for what the
    suite compares, "peer" for what stands beside it, "limit" for the reference ceiling, which is no bound.
    `kind`: shared by those that wait and run alike though they have modules of their own. `on_two_nodes`: half of the
    workers are on another node, made of this machine's namespaces (see two_nodes). `interpreter`: the one that it runs
    on, such as FREE_THREADED, or empty for the suite's own. `a_worker_each`: every member has a worker of its own, and
    not one per core. `without_a_gil`: there is a second backend, on an interpreter without a GIL. It is "added" to
    every run that has such an interpreter, or "asked" for by its name.
    """

    name: str
    summary: str
    module: str
    options: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    matched: bool = True
    role: str = "main"
    kind: str = ""
    on_two_nodes: bool = False
    interpreter: str = ""
    a_worker_each: bool = False
    without_a_gil: str = ""


def _second(backend: Backend) -> Backend:
    """The backend on an interpreter without a GIL."""
    summary = f"{backend.summary}; Python without a GIL"
    return replace(backend, name=f"{backend.name}-nogil", summary=summary, interpreter=FREE_THREADED)


_LISTED = tomllib.loads(Path(__file__).with_name("backends.toml").read_text(encoding="utf-8"))
BACKENDS: dict[str, Backend] = {name: Backend(name, **facts) for name, facts in _LISTED.items()}
_SECOND = [_second(backend) for backend in BACKENDS.values() if backend.without_a_gil]
BACKENDS |= {backend.name: backend for backend in _SECOND}
# The backends that a run with a free-threaded interpreter adds to its own. Processes need no such interpreter.
# Lockstep on threads is for the preset that compares threads with processes.
BESIDE_A_GIL = tuple(backend.name for backend in _SECOND if backend.without_a_gil == _ADDED)


def backend_of(name: str) -> Backend:
    """A backend of the suite by its name, or from outside (see `outside.PLACES`): a function like `run`, or the class
    of an actor system. Raises ParameterError.
    """
    if name not in BACKENDS and name in outside.PLACES:
        found: Any = outside.named(name)
        summary = (getattr(found, "__doc__", None) or name).partition("\n")[0]
        runs = {"system": name} if isinstance(found, type) else {}
        module = "on_actors" if runs else ""
        BACKENDS[name] = Backend(name, summary, module, runs, role="peer", a_worker_each=not runs)
    if name not in BACKENDS:
        raise ParameterError(unknown("backend", name, BACKENDS))
    return BACKENDS[name]
