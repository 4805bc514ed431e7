"""`harness doctor`: its probes, the difference between failing and absent parts, and its warnings."""

import dataclasses
import json
import sys

import pytest

from harness.store import machine
from harness.studies.doctor import checkup, probes
from harness.studies.doctor.checkup import Circumstances
from tests.choice import first

QUIET = Circumstances(
    affinity=8, quota_cpus=None, busy_cores=0.1, stolen=0.0, available_bytes=30 << 30, total_bytes=32 << 30,
    shared_free_bytes=16 << 30,
)  # fmt: skip
DESCRIBED = {"cores_allowed": 8, "clock_speed": {"governors": ["performance"], "turbo": False}, "siblings": ["0", "1"]}
SESSION = {"variables": {}, "dirty": False}


def test_the_executors_of_this_machine_work(harness):
    done = harness("doctor", "--only", "threads", "--only", "processes", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["machine"]["kernel"] == machine.describe()["kernel"]
    assert [(one["name"], one["state"], one["needed"]) for one in told["works"]] == [
        ("threads", "works", True),
        ("processes", "works", True),
    ]
    assert all("computes what the plain loop does" in one["words"] for one in told["works"])


@pytest.mark.real
@pytest.mark.parametrize("name", first(1, ["ale", "ray", "mpi", "nodes"], "what is tried takes seconds to start"))
def test_what_the_suite_needs_works_here(name):
    found = checkup.probed(name)
    assert found.state == "works" or (not found.needed and found.state == "absent"), found.words


@pytest.mark.parametrize(
    ("body", "state", "words"),
    [
        ("print('all is well\\n')", "works", "all is well"),
        ("raise ModuleNotFoundError('no mpi4py')", "absent", "ModuleNotFoundError: no mpi4py"),
        ("raise RuntimeError('no answer')", "fails", "RuntimeError: no answer"),
        ("import os; os.kill(os.getpid(), 9)", "fails", "ended with -9"),
        ("import time; time.sleep(60)", "fails", "did not end within 1 s"),
    ],
)
def test_a_probe_is_a_line_whatever_becomes_of_it(monkeypatch, tmp_path, body, state, words):
    python = tmp_path / "python"
    python.write_text(f"#!{sys.executable}\n{body}\n")
    python.chmod(0o755)
    monkeypatch.setattr(checkup.sys, "executable", str(python))
    monkeypatch.setattr(checkup, "LIMIT_S", 60.0 if "sleep" not in body else 1.0)
    assert checkup.probed("envpool") == checkup.ProbeResult("envpool", state, words, needed=False)


@pytest.mark.parametrize(("name", "state", "status"), [("ray", "fails", 1), ("ray", "absent", 1), ("mpi", "fails", 0)])
def test_only_what_is_needed_fails_the_command(harness, monkeypatch, name, state, status):
    needed = name in probes.NEEDED
    monkeypatch.setattr(checkup, "probed", lambda name: checkup.ProbeResult(name, state, "no answer", needed))
    monkeypatch.setattr(checkup, "WATCHED_S", 0.01)
    done = harness("doctor", "--only", name)
    assert done.returncode == status
    assert f"  {state:<7} {name}: no answer" in done.stdout


@pytest.mark.parametrize(
    ("described", "session", "seen", "words"),
    [
        ({"cores_allowed": 1}, {}, {}, "one core"),
        ({"clock_speed": {"governors": ["powersave"], "turbo": None}}, {}, {}, "CPU governor powersave"),
        ({"clock_speed": {"governors": None, "turbo": True}}, {}, {}, "turbo is on"),
        ({"siblings": ["0-1", "2-3"]}, {}, {}, "CPUs that share a core (threads 0-1; 2-3)"),
        ({"siblings": [f"{n},{n + 64}" for n in range(64)]}, {}, {}, "(threads 0,64; 1,65; 2,66; 3,67; and 60 more)"),
        ({"numa_nodes": 2}, {}, {}, "cores on 2 NUMA nodes"),
        ({}, {"variables": {"OMP_NUM_THREADS": "1"}}, {}, "set in the environment: OMP_NUM_THREADS"),
        ({}, {"dirty": True}, {}, "uncommitted changes"),
        ({}, {}, {"quota_cpus": 1.5}, "a quota of 1.5 CPUs on 8"),
        ({}, {}, {"busy_cores": 3.0}, "other processes keep 3.0 of 8 cores busy"),
        ({}, {}, {"stolen": 0.2}, "20% of the time to others"),
        ({}, {}, {"available_bytes": 1 << 30}, "1.0 GiB of memory are free; expected 4"),
        ({}, {}, {"shared_free_bytes": 64 << 20}, "/dev/shm has 0.1 GiB free"),
        ({}, {}, {"shared_free_bytes": None}, "/dev/shm has 0.0 GiB free"),
    ],
)
def test_what_does_harm_is_named(described, session, seen, words):
    (line,) = checkup.harms(DESCRIBED | described, SESSION | session, dataclasses.replace(QUIET, **seen))
    assert words in line


def test_a_quota_is_read_as_it_is_written(tmp_path):
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert checkup._quota(tmp_path) == 1.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert checkup._quota(tmp_path) is None
    assert checkup._quota(tmp_path / "none") is None


def test_off_linux_the_harness_says_what_it_needs(harness, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    done = harness("list")
    assert done.returncode == 2
    assert done.stderr.startswith("harness: Linux is needed, this is darwin")
