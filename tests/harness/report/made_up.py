"""Runs of every workload with values that are made up, as the report reads them from a directory."""

import json

from harness.report import paper_claims
from harness.report.summary import summarise
from harness.store import machine
from harness.store.measurement_table import MEASUREMENTS, Measurement
from harness.store.recorded_turns import TURNS, RecordedTurn
from harness.store.scaling_table import SCALING, ScalingRow
from harness.store.trial_records import TRIALS
from plots.page import render
from tests.harness import runs

MACHINE = runs.MACHINE | {
    "sessions": [{"commit": "abc", "dirty": False, "load_average": [0.5], "command": ["run"], "started_at": "now"}],
}
# How many times as slow as the loop's overhead a backend's is.
BACKENDS = {
    "serial": 1.0,
    "reactor-inline": 1.05,
    "reactor-threads": 0.9,
    "reactor-processes": 0.55,
    "ray-paper": 90.0,
    "pipes": 40.0,
    "ray-pooled": 15.0,
    "ray-pooled-compiled": 12.0,
    "gymnasium-async": 60.0,
    "reactor-vector": 0.6,
    "reactor-threads-nogil": 0.5,
    "reactor-processes-nogil": 0.6,
    "lockstep": 0.5,
    "limit": 0.3,
}
STEADY = [1.0, 1.01, 0.99, 1.0, 1.02]
ENVIRONMENTS = (
    ("gym_sampling", "CartPole-v1", 7e3),
    ("gym_sampling", "MountainCarContinuous-v0", 9e3),
    ("gym_sampling", "busy:20us", 2e4),
    ("gym_sampling", "busy:200us", 2e5),
    ("gym_sampling", "busy:200us:1000", 2e5),
    ("atari_sampling", "Pong", 2.4e5),
)
COLUMNS = ("actors", "object_bytes", "steps_per_message", "minibatch")
WORKERS = (1, 2, 4, 8, 16, 32, 64)


def times(factor):
    """Five trials' values around a number."""
    return [value * factor for value in STEADY]


def _points(slow):
    """(workload, parameters, {metric: (value, unit)}) of a backend that is so slow."""
    for actors, size in [(2, 10), (4, 10), (16, 10), (16, 100), (16, 500)]:
        ns = size * actors * 1e5 * (1 + slow)
        given = {"actors": actors, "object_bytes": size * 2**20, "work_seconds": 0.0}
        yield "broadcast_gather", given, {"overhead": (ns, "ns"), "round_time": (ns, "ns")}
    for workload, env, step_ns in ENVIRONMENTS:
        for steps in (1, 10, 100):
            ns = 15 * steps * step_ns + slow * 1e5
            given = {"actors": 15, "env": env, "steps_per_message": steps}
            yield workload, given, _rate(15 * steps, ns, "observations/s")
    for minibatch in (250, 500, 2000):
        given = {"actors": 16, "steps": 100, "minibatch": minibatch}
        yield "q_learning", given, _rate(1600, 2.3e8 * (1 + slow / 30) + minibatch * 1e4, "steps/s")
    for agents in (4, 10):
        yield "multi_agent", {"agents": agents}, _rate(1, 2e5 * agents * (1 + slow / 5), "steps/s")
    for shape, actors in [("ping_pong", 2), ("fan_out", 2), ("fan_out", 16), ("fan_out", 64), ("chain", 100)]:
        yield "overhead", {"shape": shape, "actors": actors}, _rate(1, 100 * slow * actors, "reactions/s")


def _rate(units, ns, unit):
    return {"throughput": (units / ns * 1e9, unit), "round_time": (ns, "ns")}


def _row(backend, workload, given, trial, metric, value, unit):
    parameters = json.dumps(given | {"rounds": 10, "seed": 0})
    point = (workload, str(given.get("env", workload)), backend, *map(given.get, COLUMNS), None, parameters)
    return Measurement("run", "2026-01-01T00:00:00Z", *point, trial, metric, value, unit, "aa-bb", "ok")


def rows(trials=5, backends=tuple(BACKENDS), change=lambda row: row):
    """Rows of everything on these backends."""
    return [
        change(_row(backend, workload, given, trial, metric, value * (1 + 0.03 * (trial * 7 % 5 - 2)), unit))
        for backend in backends
        for workload, given, metrics in _points(BACKENDS[backend])
        for trial in range(trials)
        for metric, (value, unit) in metrics.items()
    ]


def turns(backends, trials):
    """Four turns of each backend in the workload of four agents; a later one takes longer."""
    parameters = json.dumps({"agents": 4, "rounds": 10, "seed": 0})
    return [
        RecordedTurn("multi_agent", parameters, backend, trial, 0, sweep, 0, 40, 10**8 * (sweep + 1), 10)
        for backend in backends
        for trial in range(trials)
        for sweep in range(4)
    ]


def scaled():
    """The scaling of four workloads."""
    found = []
    for workload in ("gym_sampling", "q_learning", "broadcast_gather", "overhead"):
        given = json.dumps({"actors": 16, "steps_per_message": 1, "env": "MountainCarContinuous-v0"})
        where = {"run_id": "run", "workload": workload, "scenario": workload, "status": "ok", "parameters": given}
        where |= dict.fromkeys(COLUMNS)
        for kind, power, counts in (
            ("predicted", 0.9, WORKERS),
            ("predicted_paid", 0.7, WORKERS),
            ("predicted_here", 0.6, (1, 2, 4)),
            ("measured", 0.5, (1, 2, 4)),
        ):
            for workers in counts:
                speedup = float(workers) ** power
                numbers = {"speedup": speedup, "low": 0.9 * speedup, "high": 1.2 * speedup}
                found.append(
                    ScalingRow(**where, backend="reactor-processes", kind=kind, workers=workers, trials=3, **numbers)
                )
    return found


def summary(path, measured, taken=(), scaling=(), trials=(), described=MACHINE):
    """The summary of a directory with these rows."""
    path.mkdir(parents=True, exist_ok=True)
    (path / machine.FILE_NAME).write_text(json.dumps(described))
    tables = {MEASUREMENTS: measured, TURNS: taken, SCALING: scaling, TRIALS: trials}
    for table, own in tables.items():
        table.write(path, own)
    return summarise(path)


def drawn(chart):
    """The figure of a chart, laid out."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = render(chart)
    FigureCanvasAgg(figure).draw()
    return figure


THEIRS = {"actors": 15}  # as in the paper


def claimed(summary):
    """The rows of the paper's claims, by heading."""
    return [dict(zip(paper_claims.HEADINGS, row, strict=True)) for row in paper_claims.table(summary).rows]
