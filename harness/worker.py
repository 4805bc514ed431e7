"""The process that measures: `python -m harness.worker` runs one trial of one backend, once, and reports.

Owns the order of things within a trial: the timed run, warm-up rounds first, then (where asked to) the same code with
the same seed once more, to verify what it computes. A timed run too short to trust is followed by a longer one, whose
times count. Collects garbage before each run but the first. Prints nothing between rounds and writes its result once,
at the end.
"""

import gc
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness import metrics, processes
from harness.breakdown import measure as breakdown
from harness.checks import SHORT_NS
from harness.record import one_line, write_atomically
from harness.scaling import measure as scaling
from harness.scaling.table import PREDICTED
from workloads import catalogue, ranks
from workloads.parameter import ParameterError, UnsupportedError
from workloads.probe import Outcome, Probe

# A timed run that the report would doubt as short is followed by one of as many rounds as fill this time.
FILLED_NS = 200_000_000
MOST_TIMES = 1_000  # as many rounds as asked for

CpuTimes = dict[int, int]


@dataclass(frozen=True)
class Gauges:
    """How a probe takes stock: CPU time in ns by process id, of this process and of all below it, and memory."""

    own_cpu: Callable[[], CpuTimes]
    others_cpu: Callable[[], CpuTimes]
    held_bytes: Callable[[], int]


class AccountingProbe(Probe):
    """A probe that also takes stock of the process tree, before the first round and after the last.

    Between the two, a round costs what it costs with a plain probe. A process that ends in between is not
    counted.
    """

    def __init__(self, task: Any, gauges: Gauges, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        super().__init__(task.rounds, task.warmup_rounds, verify=False, clock=clock)
        self._gauges = gauges
        self._now = clock
        self._cpu_before: CpuTimes = {}
        self._began_ns = 0
        self._stock: tuple[float, int] | None = None
        self.used_ns: CpuTimes = {}  # as of taking stock after the last round

    def ready(self) -> None:
        """Take stock, which is no part of the start-up time, and begin."""
        began = self._now()
        # Looking at the others costs this process time of its own, which its own gauge, read last, leaves out.
        self._cpu_before = {**self._gauges.others_cpu(), **self._gauges.own_cpu()}
        self._began_ns = self._now()
        self.charge_startup(began - self._began_ns)
        super().ready()

    def state(self, *values: object) -> None:
        """Take stock after the last round, before the backend ends its processes."""
        self.stock()
        super().state(*values)

    def stock(self) -> tuple[float, int]:
        """Cores kept busy since `ready`, and memory held, as of the first time this is asked for."""
        if self._stock is None:
            passed_ns = max(1, self._now() - self._began_ns)
            after = {**self._gauges.own_cpu(), **self._gauges.others_cpu()}
            self.used_ns = after
            cpu_ns = sum(used - self._cpu_before.get(pid, 0) for pid, used in after.items())
            self._stock = cpu_ns / passed_ns, self._gauges.held_bytes()
        return self._stock


def main() -> int:
    """Run the trial that standard input orders, and put the result where it says."""
    processes.die_with(os.getppid())
    text = sys.stdin.readline()
    order = json.loads(text)
    try:
        if needs_ranks(order) and not ranks.has_ranks():
            ranks.become_ranks("harness.worker", text.encode())
        result = _carry_out(order)
    except UnsupportedError as error:
        result = {"unsupported": one_line(str(error))}
    except ParameterError as error:  # what can't run with these parameters says so itself
        result = {"error": one_line(str(error))}
    except Exception as error:  # noqa: BLE001 - whatever a backend raises becomes the row's status
        traceback.print_exc()
        result = {"error": one_line(f"{type(error).__name__}: {error}")}
    write_atomically(Path(order["result_path"]), json.dumps(result).encode())
    return 1 if "error" in result else 0


def needs_ranks(order: Mapping[str, Any]) -> bool:
    """Whether the backend runs on ranks, of which this process is then the first."""
    backend = catalogue.BACKENDS.get(order.get("backend", ""))
    return backend is not None and backend.options.get("executor") == "mpi"


def _carry_out(order: Mapping[str, Any]) -> dict[str, Any]:
    what = order["workload"], order["backend"], order["parameters"]
    if "breakdown" in order:
        return {"phases": breakdown.measure(*what)}
    if order.get("scaling") == PREDICTED:
        return {"scaling": scaling.predicted(order["workload"], order["parameters"])}
    if "scaling" in order:
        return {"scaling": scaling.measured(*what, order["workers"])}
    return run_trial(*what, order["verify_rounds"])


def run_trial(workload: str, backend: str, parameters: Mapping[str, Any], verify_rounds: int) -> dict[str, Any]:
    """Measure, then verify over so many rounds (0: don't); everything that the harness records of a trial.

    What is verified comes last, so that the start-up time is that of a fresh process in every trial.
    """
    task = catalogue.make_task(workload, parameters)
    catalogue.load(workload, backend)  # importing is no part of the start-up time
    first, probe = _timed(workload, backend, task)
    timed, outcome, held_bytes = task, first, probe.stock()[1]
    if first.elapsed_ns < SHORT_NS:
        rounds = first.rounds * min(MOST_TIMES, -(-FILLED_NS // max(1, first.elapsed_ns)))
        gc.collect()
        timed = replace(task, rounds=rounds)
        again, probe = _timed(workload, backend, timed)
        # What else was started or loaded before, the first run of the process shows; and only its rounds are the same
        # on every backend.
        outcome = replace(again, startup_ns=first.startup_ns)
    cores, held_again_bytes = probe.stock()
    result = {
        "state_digest": first.state_digest,
        "metrics": [asdict(metric) for metric in metrics.measured(timed, outcome, cores)],
        "peak_bytes": max(held_bytes, held_again_bytes, _own_peak_bytes()),
        "measured_ns": outcome.elapsed_ns,
        "rounds": outcome.rounds,
        "round_ns": metrics.round_quantiles(outcome),
        "used_ns": probe.used_ns,
        "gil_enabled": getattr(sys, "_is_gil_enabled", lambda: True)(),
    }
    return {**result, "verify_digest": _verify(workload, backend, parameters, verify_rounds) if verify_rounds else ""}


def _verify(workload: str, backend: str, parameters: Mapping[str, Any], rounds: int) -> str:
    gc.collect()
    return catalogue.execute(
        workload, backend, {**parameters, "rounds": rounds, "warmup_rounds": 0}, verify=True
    ).digest


def _timed(workload: str, backend: str, task: Any) -> tuple[Outcome, AccountingProbe]:
    probe = AccountingProbe(task, _gauges())
    catalogue.run(workload, backend, task, probe)
    return probe.outcome(), probe


def _gauges() -> Gauges:
    own = os.getpid()
    return Gauges(
        own_cpu=lambda: processes.cpu_ns([own]),
        others_cpu=lambda: processes.cpu_ns(processes.descendants()),
        held_bytes=lambda: processes.resident_bytes([own, *processes.descendants()]),
    )


def _own_peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    sys.exit(main())
