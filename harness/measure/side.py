"""The process that is measured: `python -m harness.measure.side`, with the tree it measures first on the path.

Carries out one order from standard input, a line of JSON, and answers on the channel that it names:

- `workload`, `backend`, `parameters`, `options`, `verify_rounds`: run it without end, in turns
- `kernel`, `parameters`: run a function "module:function" that repeats itself for a meter, in turns as well
- `call`, `arguments`: call a function once, and answer with its result

An order that cannot run or fails is answered with `unsupported` or `error`. The end of a program that was ordered to
end is answered with `ended`, and the next order comes on the channel. Output goes to the log.
"""

import gc
import importlib
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import reactorlib
import workloads
from harness.measure.turn import Channel, ProgramEnds, Turns
from harness.store.status import one_line
from reactorlib.cpus import gil_enabled
from workloads import catalogue
from workloads.digest import NoDigest
from workloads.parameter import ParameterError, UnsupportedError
from workloads.probe import Probe

_ENDLESS = 10**9  # rounds; the engine ends the process earlier
_LAP_NS = 400_000  # the least time of a kernel path's lap, between two readings of the clock
# A kernel path is repeated before its first turn, so that its recurring sets of triggers are compiled.
_WARM_REPETITIONS = 100
_WARM_NS = 1_000_000_000
# The warning of the interpreter when an extension module is loaded that needs the GIL; the module's name follows.
_GIL_WARNING = "The global interpreter lock"
GIL_IS_ON = "the GIL is on, and this backend is measured without one"


class TurnProbe(Probe):
    """A probe whose rounds wait for their turn. `verify_rounds`: the first, whose values are hashed. `without_gil`:
    that it is off is checked.
    """

    def __init__(self, channel: Channel, verify_rounds: int, *, without_gil: bool = False) -> None:
        super().__init__(_ENDLESS, 0, verify=verify_rounds > 0)
        self._without_gil = without_gil
        self._turns = Turns(channel, verify_rounds, self._settled)
        self.round = self._turns.passed  # type: ignore[method-assign]  # one call less in every round

    def ready(self) -> None:
        """Note that setup is done, and wait for the first turn if nothing is verified."""
        super().ready()
        self._turns.begin()

    def _settled(self) -> Mapping[str, Any]:
        digest = self.digest.hexdigest()
        self.verifying = False
        self.digest = NoDigest()
        gc.collect()
        if self._without_gil and gil_enabled():
            raise RuntimeError(GIL_IS_ON)
        return {"startup_ns": getattr(self, "startup_ns", 0), "digest": digest, "gil_enabled": gil_enabled()}


class TurnMeter:
    """A meter for a program that asks `next_lap` how much to repeat: laps without end, in turns."""

    def __init__(self, channel: Channel) -> None:
        self.warmup = 1
        self.tags = 1
        self._turns = Turns(channel)
        self._began_ns: int | None = None
        self._created_ns = time.perf_counter_ns()
        self._repeated = 0
        self._settled = False

    def next_lap(self) -> int:
        """End a lap; the repetitions of the next one."""
        now = time.perf_counter_ns()
        self._repeated += self.tags
        if self._settled:
            self._turns.passed(self.tags)
        elif self._repeated < _WARM_REPETITIONS and now - self._created_ns < _WARM_NS:
            pass
        elif self._began_ns is not None and now - self._began_ns >= _LAP_NS:
            self._settled = True
            self._turns.begin()
        else:
            self.tags *= 2 if self._began_ns is not None else 1
            self._began_ns = now
        return self.tags


def main() -> int:
    """Carry out the order."""
    os.register_at_fork(after_in_child=gc.freeze)  # workers of peers, which do not freeze what they inherit
    text = sys.stdin.readline()
    order = json.loads(text)
    channel = Channel(order["channel"])
    tree = Path(order["tree"]).resolve()
    if not Path(__file__).resolve().is_relative_to(tree):
        os.chdir(tree)  # where Ray's actors look for modules first, and the harness may be run from its own tree
    while "ended" in (answer := _answer(order, channel, text)):
        gc.unfreeze()
        gc.collect()  # the objects of the program's frames
        channel.tell(answer)
        order = channel.hear()
    channel.tell(answer)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if "error" in answer else 0)  # nothing that runs at exit has anything left to say


def _answer(order: Mapping[str, Any], channel: Channel, text: str) -> dict[str, Any]:
    """Carry out an order, and return its result. `text`: of the first one."""
    tree = Path(order["tree"]).resolve()
    try:
        _go_where_it_runs(order, text.encode())
        for module in (reactorlib, workloads):
            if not Path(str(module.__file__)).resolve().is_relative_to(tree):
                raise ImportError(f"{module.__name__} comes from {module.__file__}, not from {tree}")
        if "call" in order:
            return {"answer": _named(order["call"])(*order["arguments"])}
        if "kernel" in order:
            _named(order["kernel"])(TurnMeter(channel), **order["parameters"])
        else:
            run_workload(order, channel)
        return {"error": "the rounds ended before the engine did"}
    except ProgramEnds:
        return {"ended": True}
    except UnsupportedError as error:
        return {"unsupported": one_line(str(error))}
    except ParameterError as error:  # its message is complete
        return {"error": one_line(str(error))}
    except Exception as error:  # noqa: BLE001 - whatever a backend raises becomes the row's status
        traceback.print_exc()
        return {"error": one_line(f"{type(error).__name__}: {error}")}


def _go_where_it_runs(order: Mapping[str, Any], text: bytes) -> None:
    """Go on as the first of ranks, or on the first of two nodes, where the backend needs them. Does not return then."""
    backend = catalogue.BACKENDS.get(order.get("backend", ""))
    on_nodes = getattr(backend, "on_two_nodes", False)  # an older tree has none
    on_ranks = backend is not None and backend.options.get("executor") == "mpi"
    if on_nodes or on_ranks:
        from workloads import ranks  # nor has it this

        if on_nodes:
            from workloads import two_nodes

            if not two_nodes.are_here():
                ranks.go_to_two_nodes("harness.measure.side", text)
        if on_ranks and not ranks.has_ranks():
            ranks.become_ranks("harness.measure.side", text)


def _named(path: str) -> Any:
    module, _, function = path.partition(":")
    return getattr(importlib.import_module(module), function)


def run_workload(order: Mapping[str, Any], channel: Channel) -> None:
    """Run a workload in turns, on the interpreter that its backend is for. Raises what it raises."""
    workload, backend = order["workload"], order["backend"]
    if order.get("outside"):
        from workloads import outside  # an older tree has none

        outside.reach(order["outside"])
    # An older tree knows no interpreter but the suite's.
    interpreter = getattr(catalogue.BACKENDS.get(backend), "interpreter", "")
    without_gil = interpreter == getattr(catalogue, "FREE_THREADED", None)
    if without_gil:
        warnings.filterwarnings("error", _GIL_WARNING, RuntimeWarning)
    try:
        task = catalogue.make_task(workload, {**order["parameters"], "rounds": _ENDLESS, "warmup_rounds": 0})
        catalogue.load(workload, backend)  # importing is no part of the start-up time
        probe = TurnProbe(channel, order["verify_rounds"], without_gil=without_gil)
        catalogue.run(workload, backend, task, probe, **order["options"])
    except ImportError as error:
        if not interpreter:
            raise
        raise UnsupportedError(f"in the environment of its {interpreter} interpreter: {error}") from None


if __name__ == "__main__":
    main()
