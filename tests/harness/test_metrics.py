"""From outcomes to values, on a clock that counts."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from harness import metrics
from harness.worker import AccountingProbe, Gauges
from workloads.probe import Outcome, ProbeError


def task(**changes):
    """A task of 3 measured rounds and 1 before them."""
    described = {"metric": "throughput", "unit": "steps/s", "units_per_round": 10, "rounds": 3, "warmup_rounds": 1}
    return SimpleNamespace(**(described | changes))


def outcome(*round_ns):
    return Outcome("", "state", len(round_ns), sum(round_ns), np.array(round_ns), 77)


def measured(*arguments):
    return {metric.name: (metric.value, metric.unit) for metric in metrics.measured(*arguments)}


def test_a_throughput_task():
    assert measured(task(), outcome(100, 200, 700), 1.5) == {
        "throughput": (3e10 / 1_000, "steps/s"),
        "round_time": (200, "ns"),
        "startup_time": (77, "ns"),
        "cpu_time": (1.5 * 1_000 / 30, "ns/step"),
    }


def test_the_simulated_work_is_no_overhead():
    broadcast = task(metric="overhead", unit="ns", units_per_round=1, work_seconds=1e-7)
    assert measured(broadcast, outcome(150, 180, 170), 1.5) == {
        "throughput": (3e9 / 500, "rounds/s"),
        "round_time": (170, "ns"),
        "overhead": (70, "ns"),
        "startup_time": (77, "ns"),
        "cpu_time": (1.5 * 500 / 3, "ns/round"),
    }


def test_units_name_every_metric_of_a_row():
    assert metrics.units(task()) == {
        "throughput": "steps/s",
        "round_time": "ns",
        "startup_time": "ns",
        "peak_rss": "bytes",
        "cpu_time": "ns/step",
    }


def test_quantiles_of_the_rounds():
    quantiles = metrics.round_quantiles(outcome(*range(101)))
    assert (quantiles["minimum"], quantiles["p5"], quantiles["median"], quantiles["maximum"]) == (0, 5, 50, 100)


class Tree:
    """A process tree whose members use 10 ns of CPU time per look at their gauges, which takes 5 ns."""

    def __init__(self):
        self.now_ns = itertools.count(1_000, 5)
        self.used = {1: 500, 2: 100}
        self.held = 4_096
        self.looks = []

    def look(self, name, pids):
        self.looks.append(name)
        self.used = {pid: used + 10 for pid, used in self.used.items()}
        return {pid: used for pid, used in self.used.items() if (pid == 1) == (pids == "own")}

    def gauges(self):
        return Gauges(lambda: self.look("own", "own"), lambda: self.look("others", "others"), lambda: self.held)


@pytest.fixture
def tree():
    return Tree()


def test_cores_are_counted_between_the_first_round_and_the_last(tree):
    probe = AccountingProbe(task(), tree.gauges(), clock=lambda: next(tree.now_ns))
    probe.ready()
    for _ in range(4):
        probe.round()
    tree.used = {1: 1_500, 3: 40}  # process 2 has ended, process 3 is new
    probe.state("final")
    assert tree.looks == ["others", "own", "own", "others"]
    own, new = 1_500 + 10 - (500 + 20), 40 + 20
    assert probe.stock() == ((own + new) / 30, 4_096)  # per ns of the clock, which counts six times


def test_taking_stock_is_neither_startup_nor_measured(tree):
    probe = AccountingProbe(task(), tree.gauges(), clock=lambda: next(tree.now_ns))
    probe.ready()  # looks at the clock three times: before and after taking stock, and when ready
    for _ in range(4):
        probe.round()
    probe.state("final")
    result = probe.outcome()
    assert result.startup_ns == 15 - 5
    assert result.elapsed_ns == 15
    assert result.round_ns.tolist() == [5, 5, 5]


def test_a_run_that_reports_too_few_rounds_has_no_outcome(tree):
    probe = AccountingProbe(task(), tree.gauges())
    probe.ready()
    probe.round()
    with pytest.raises(ProbeError, match="expected 4 rounds"):
        probe.outcome()
