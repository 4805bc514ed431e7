"""A fake workload in the catalogue, rows to order, the harness as a command, and runs that it has finished."""

import dataclasses
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import workloads
from harness.cli.commands import main
from harness.measure import block, runner
from harness.measure.turn import Turn
from harness.plan.selection import select
from harness.store.measurement_table import Measurement
from workloads import catalogue

_ROOT = Path(__file__).resolve().parents[2]
_FAKE = Path(__file__).parent / "fake_workload"
LIMIT_S = 60


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """The workload `fake` in this process and all that it starts; an empty current directory."""
    monkeypatch.setattr(workloads, "__path__", [*workloads.__path__, str(_FAKE)])
    monkeypatch.setitem(
        catalogue.WORKLOADS, "fake", catalogue.Workload("fake", "workloads.fake", 100, "Fake", "counts", {})
    )
    short = dataclasses.replace(
        block.EFFORT, sweeps=3, fewest=1, turn_ns=1_000_000, waking_ns=0, warmup_ns=1_000_000, warmup_s=(0.0, 0.05)
    )
    monkeypatch.setattr(block, "EFFORT", short)
    monkeypatch.setenv("PYTHONPATH", f"{_FAKE}{os.pathsep}{_ROOT}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _made_up(subjects, effort, seed, logs, starts, kept):
    """A block that is over at once: its subjects have turns and a digest, though none of them ran."""
    for subject in subjects:
        starts(subject)
    taken = {(sweep, 0): Turn(10, 1_000_000 + sweep, 1_000_000) for sweep in range(3)}
    made = [block.Measured(subject, turns=taken, startup_ns=1_000, digest="aa-bb") for subject in subjects]
    return {one.subject.name: one for one in made}


@pytest.fixture
def built(fake):
    """Builds a grid of the fake workload on two backends."""

    def build(*settings, **options):
        options = {"workloads": ["fake"], "backends": ["serial", "reactor-inline"], "trials": 3} | options
        return select("smoke", settings=settings, **options).grid

    return build


@pytest.fixture
def made_up(fake, monkeypatch):
    """Blocks are over at once."""
    monkeypatch.setattr(block, "run", _made_up)


@pytest.fixture
def ticking(made_up, monkeypatch):
    """Has seconds pass in a run from look to look at the clock, and blocks be over at once."""

    def ticking(step=1):
        clock = itertools.count(0, step)
        monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=clock.__next__))

    return ticking


@pytest.fixture
def start(fake):
    """Starts the harness in a process of its own."""
    started = []

    def start(*arguments, **options):
        process = subprocess.Popen(
            [sys.executable, "-m", "harness", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=LIMIT_S)


@pytest.fixture
def harness(fake, capsys):
    """Runs the harness to its end in this process; returns its exit status, output and error output."""

    def run(*arguments):
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, status, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def _kept(tmp_path_factory):
    """The finished runs of this session of tests, by their arguments."""
    return tmp_path_factory.mktemp("finished"), {}


@pytest.fixture
def finished(harness, _kept):
    """Puts the files of a finished run where a test wants them, for tests that need no more than these.

    They are made up, not measured. Each set of arguments is run once, and then copied. Returns the result of `harness`.
    """
    folder, done = _kept

    def finished(*arguments, output="out"):
        kept = folder / str(len(done))
        if arguments not in done:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(block, "run", _made_up)
                done[arguments] = kept, harness("run", *arguments, "--output", kept)
        kept, ended = done[arguments]
        shutil.copytree(kept, output)
        return ended

    return finished


_ROW = Measurement(
    "run", "2026-01-01T00:00:00Z", "gym_sampling", "CartPole-v1", "serial", 2, None, 1, None, 1,
    json.dumps({"actors": 2, "env": "CartPole-v1"}), 0, "throughput", 100.0, "observations/s", "aa-bb", "ok",
)  # fmt: skip


@pytest.fixture
def row():
    """Makes rows; what isn't given has a plausible value."""

    def row(**changes):
        return dataclasses.replace(_ROW, **changes)

    return row
