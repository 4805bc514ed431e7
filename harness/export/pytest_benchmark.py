"""The JSON of pytest-benchmark, as `pytest-benchmark compare` reads it: a benchmark is a backend at a point.

Its rounds are the trials, each with the median time of a round, in seconds. What isn't a time has no place in the
format but `extra_info`: throughput and the ratios stand there.
"""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.export.series import Measured, Series

_VERSION = "5.3.1"  # whose format this is
_METRIC = "round_time"


def files(measured: Measured, output: Path) -> dict[Path, Any]:
    """One file of all benchmarks."""
    session = measured.session
    commit = {
        "id": session.get("commit") or "unversioned",
        "time": session.get("commit_time") or session.get("started_at"),
        "author_time": session.get("commit_time") or session.get("started_at"),
        "dirty": bool(session.get("dirty")),
        "project": "reactors-against-ray",
        "branch": "(unknown)",
    }
    content = {
        "machine_info": _machine_info(measured.machine),
        "commit_info": commit,
        "benchmarks": list(_benchmarks(measured.series)),
        "datetime": session.get("started_at"),
        "version": _VERSION,
    }
    return {output: content}


def _machine_info(described: Mapping[str, Any]) -> dict[str, Any]:
    cpu, interpreter = described.get("cpu", {}), described.get("interpreter", {})
    system, _, release = str(described.get("kernel", "")).partition(" ")
    return {
        "node": "",  # results are published, a host's name is not
        "processor": cpu.get("model", ""),
        "machine": cpu.get("architecture", ""),
        "python_compiler": interpreter.get("compiler", ""),
        "python_implementation": interpreter.get("implementation", ""),
        "python_implementation_version": interpreter.get("version", ""),
        "python_version": interpreter.get("version", ""),
        "python_build": ["", ""],
        "release": release,
        "system": system,
        "cpu": {"brand_raw": cpu.get("model", ""), "count": cpu.get("cores"), "arch": cpu.get("architecture", "")},
    }


def _benchmarks(series: Sequence[Series]) -> Iterator[dict[str, Any]]:
    for one in series:
        if one.metric == _METRIC:
            others = {other.metric: other.estimate.value for other in series if other.name == one.name}
            parameters = json.loads(one.parameters)
            yield {
                "group": f"{one.workload} / {one.label}",
                "name": one.name,
                "fullname": one.name,
                "params": {"backend": one.backend, **parameters},
                "param": one.backend,
                "extra_info": {name: value for name, value in others.items() if name != _METRIC},
                "options": {
                    "disable_gc": False,
                    "timer": "perf_counter_ns",
                    "min_rounds": one.estimate.count,
                    "max_time": 0.0,
                    "min_time": 0.0,
                    "warmup": parameters.get("warmup_rounds", 0) > 0,
                },
                "stats": _stats([value / 1e9 for value in one.values]),
            }


def _stats(seconds: Sequence[float]) -> dict[str, Any]:
    mean = statistics.fmean(seconds)
    deviation = statistics.stdev(seconds) if len(seconds) > 1 else 0.0
    q1, q3 = (float(value) for value in np.quantile(seconds, [0.25, 0.75]))
    fence = 1.5 * (q3 - q1)
    inside = [value for value in seconds if q1 - fence <= value <= q3 + fence]
    of_deviation = sum(abs(value - mean) > deviation for value in seconds)
    of_quartiles = len(seconds) - len(inside)
    return {
        "min": min(seconds),
        "max": max(seconds),
        "mean": mean,
        "stddev": deviation,
        "rounds": len(seconds),
        "median": statistics.median(seconds),
        "iqr": q3 - q1,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": of_quartiles,
        "stddev_outliers": of_deviation,
        "outliers": f"{of_deviation};{of_quartiles}",
        "ld15iqr": min(inside),
        "hd15iqr": max(inside),
        "ops": 1 / mean,
        "total": sum(seconds),
        "data": list(seconds),
        "iterations": 1,
    }
