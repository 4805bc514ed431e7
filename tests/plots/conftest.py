"""Rows of every workload with values that are made up, for figures to be drawn from."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

COLUMNS = [
    "run_id", "started_at", "workload", "scenario", "backend", "actors", "object_bytes", "steps_per_message",
    "minibatch", "workers", "parameters", "trial", "metric", "value", "unit", "digest", "status",
]  # fmt: skip
BACKENDS = {
    "serial": 1.0,
    "reactor-inline": 1.05,
    "reactor-threads": 0.9,
    "reactor-processes": 0.55,
    "ray-paper": 90.0,
    "ray-tuned": 40.0,
    "ray-pooled": 15.0,
    "ray-compiled": 12.0,
    "gymnasium-async": 60.0,
    "reactor-vector": 0.6,
    "lockstep": 0.5,
    "limit": 0.3,
    "a-new-one": 3.0,
}
MakeRows = Callable[..., pd.DataFrame]


def _points(slow: float) -> Iterator[tuple[str, str, dict[str, Any], dict[str, tuple[float, str]]]]:
    """(workload, scenario, parameters, {metric: (value, unit)}), `slow` times as slow as the loop."""
    for actors, size in [(2, 10), (4, 10), (8, 10), (16, 10), (16, 100), (16, 300), (16, 500)]:
        parameters = {"actors": actors, "object_bytes": size * 2**20, "work_seconds": 0.0}
        time_ns = size * actors * 1e5 * (1 + slow)
        metrics = {"overhead": (time_ns, "ns"), "round_time": (time_ns, "ns")}
        yield "broadcast_gather", f"{size}MiB", parameters, metrics
    for workload, env, step_ns in [
        ("gym_sampling", "CartPole-v1", 7e3),
        ("gym_sampling", "Blackjack-v1", 5e3),
        ("gym_sampling", "MountainCarContinuous-v0", 9e3),
        ("gym_sampling", "busy:20us", 2e4),
        ("gym_sampling", "busy:200us", 2e5),
        ("gym_sampling", "busy:200us:1000", 2e5),
        ("atari_sampling", "Pong", 2.4e5),
        ("atari_sampling", "SpaceInvaders", 2.2e5),
    ]:
        for steps in (1, 10, 100):
            parameters = {"actors": 15, "env": env, "steps_per_message": steps}
            time_ns = 15 * steps * step_ns + slow * 1e5
            metrics = {
                "throughput": (15 * steps / time_ns * 1e9, "observations/s"),
                "round_time": (time_ns, "ns"),
            }
            yield workload, env, parameters, metrics
    for minibatch in (250, 500, 1000, 2000):
        parameters = {"actors": 16, "steps": 100, "minibatch": minibatch, "minibatch_policy": "sample"}
        time_ns = 2.3e8 * (1 + slow / 30) + minibatch * 1e4
        metrics = {"throughput": (1600 / time_ns * 1e9, "steps/s"), "round_time": (time_ns, "ns")}
        yield "q_learning", "Blackjack-v1", parameters, metrics
    for agents in (4, 10):
        time_ns = 2e5 * agents * (1 + slow / 5)
        metrics = {"throughput": (1e9 / time_ns, "steps/s"), "round_time": (time_ns, "ns")}
        yield "multi_agent", "TrafficJunction", {"agents": agents}, metrics
    for shape, actors in [("ping_pong", 2), ("fan_out", 2), ("fan_out", 16), ("fan_out", 64), ("chain", 100)]:
        time_ns = 100 * slow * actors
        metrics = {"throughput": (1e9 / time_ns, "reactions/s"), "round_time": (time_ns, "ns")}
        yield (
            "overhead",
            f"{shape}-{actors}",
            {"shape": shape, "actors": actors, "messages_per_round": 1000 // actors},
            metrics,
        )


def _make_rows(trials: int = 5, backends: tuple[str, ...] = tuple(BACKENDS)) -> pd.DataFrame:
    rows = []
    for backend in backends:
        for workload, scenario, parameters, metrics in _points(BACKENDS[backend]):
            for trial in range(trials):
                for metric, (value, unit) in metrics.items():
                    known = {name: str(parameters[name]) for name in parameters if name in COLUMNS}
                    known.setdefault("actors", str(parameters.get("agents", "")))
                    rows.append(
                        dict.fromkeys(COLUMNS, "")
                        | known
                        | {
                            "workload": workload,
                            "scenario": scenario,
                            "backend": backend,
                            "parameters": json.dumps(parameters | {"rounds": 10, "seed": 0}),
                            "trial": str(trial),
                            "metric": metric,
                            "value": repr(value * (1 + 0.03 * (trial * 7 % 5 - 2))),
                            "unit": unit,
                            "status": "ok",
                        }
                    )
    return pd.DataFrame(rows, columns=COLUMNS, dtype=str)


@pytest.fixture(scope="session")
def make_rows() -> MakeRows:
    """Rows of all workloads: `make_rows(trials, backends)`."""
    return _make_rows


@pytest.fixture(scope="session")
def full_rows() -> pd.DataFrame:
    """Five trials of everything on the known backends and one without a look of its own."""
    return _make_rows()
