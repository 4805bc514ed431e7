"""Runs that were never run: directories as `harness run` leaves them, with values to order."""

import json

from harness.measure.block import Measured
from harness.measure.turn import Turn
from harness.plan.grid import Grid, Point, canonical
from harness.store import machine
from harness.store.measurement_table import MEASUREMENTS, Measurement
from harness.store.run_directory import GRID_NAME
from workloads.catalogue import BACKENDS, make_task, workers_of

MACHINE = {
    "cpu": {"model": "Abacus", "architecture": "x86_64", "cores": 4},
    "cores_allowed": 4,
    "memory_gib": 8.0,
    "kernel": "Linux 6",
    "interpreter": {"implementation": "CPython", "version": "3.11.7", "compiler": "GCC", "free_threaded_build": False},
    "packages": {"numpy": "2.4", "ray": "2.60", "reactorlib": "0.1.0"},
}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
# Seconds that a round takes by backend; a little more in one trial than in another.
ROUND_S = {"serial": 1e-4, "reactor-inline": 1e-4, "ray-paper": 8e-3}
WOBBLE = (1.0, 1.01, 0.99, 1.02, 0.995)


def session(**changes):
    """The record in machine.json of one call of the harness."""
    default = {"started_at": "2026-05-01T10:00:00Z", "command": ["python", "-m", "harness", "run"], "commit": COMMIT}
    return default | {"dirty": False, "load_average": [0.1, 0.1, 0.1], "variables": {}} | changes


def grid(backends=tuple(ROUND_S), trials=5, seed=0, points=(("gym_sampling", {"actors": 2, "rounds": 50}),)):
    """A grid of real points."""
    made = tuple(Point(name, canonical(make_task(name, values)), trials) for name, values in points)
    return Grid(made, tuple(backends), seed, 60.0)


def rows_of(trial, run_id, round_s):
    """The rows of a trial that took so long per round."""
    actors = trial.point.values.get("actors") or trial.point.values["agents"]
    values = {
        "throughput": actors / round_s,
        "round_time": round_s * 1e9,
        "overhead": round_s * 1e9,
        "startup_time": 1e8,
        "peak_rss": 2.0**28,
        "cpu_time": round_s * 1e9 / actors,
    }
    digest = f"{trial.point.workload}-of-{len(trial.point.parameters)}"
    of_trial = {"workers": workers_of(BACKENDS[trial.backend], trial.point.task), "digest": digest, "status": "ok"}
    of_trial |= {"run_id": run_id, "started_at": "2026-05-01T10:00:00Z", "backend": trial.backend, "trial": trial.index}
    for metric, unit in trial.point.units.items():
        yield Measurement(metric=metric, value=values[metric], unit=unit, **of_trial, **trial.point.columns)


def write(path, *, factors=None, described=MACHINE, sessions=None, chosen=None, run_id="a-run", change=lambda row: row):
    """A run in a directory; returns the path.

    `factors`: by backend, how many times as long a round takes. `change`: the change of each row. A row that becomes
    None is left out.
    """
    chosen = chosen or grid()
    path.mkdir(parents=True)
    (path / GRID_NAME).write_text(json.dumps({"run_id": run_id, **chosen.describe()}))
    (path / machine.FILE_NAME).write_text(json.dumps({**described, "sessions": sessions or [session()]}))
    written: list[Measurement] = []
    for trial in chosen.trials():
        usual = ROUND_S.get(trial.backend, 1e-3) * WOBBLE[trial.index % len(WOBBLE)]
        rows = rows_of(trial, run_id, usual * (factors or {}).get(trial.backend, 1.0))
        written += filter(None, map(change, rows))
    MEASUREMENTS.write(path, written)
    return path


def measured(subject, round_ns, failure="", **outcome):
    """The outcome of a subject in a block whose rounds all took so long."""
    taken = {(sweep, 0): Turn(10, 10 * round_ns, 10 * round_ns) for sweep in range(3)}
    return Measured(subject, failure, {} if failure else taken, **outcome)


def engine(round_ns, failing):
    """In place of `block.run`: a subject's rounds take as long as its name says, but one fails for want of memory."""

    def run(subjects, *_):
        failures = {one.name: "no memory" if one.name == failing else "" for one in subjects}
        return {one.name: measured(one, round_ns(one.name), failures[one.name]) for one in subjects}

    return run


def add_rows(path, *rows):
    """Add rows to those of a directory."""
    MEASUREMENTS.write(path, [*MEASUREMENTS.read(path), *rows])
