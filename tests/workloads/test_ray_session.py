"""The Ray session: quiet, charged to the run that uses it, and gone without a trace when its process ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from workloads import ray_session
from workloads.parameter import ParameterError
from workloads.probe import Probe

ROOT = Path(__file__).parents[2]

# Two runs in a process that ends without closing its session: the second is charged what the first paid.
SCRIPT = """
import json, os, sys
from workloads import ray_session
from workloads.catalogue import execute
small = {"shape": "fan_out", "actors": 2, "messages_per_round": 2, "rounds": 2}
first, second = (execute("overhead", "ray-tuned", small, verify=False) for _ in range(2))
seen = {
    "pid": os.getpid(),
    "directory": str(ray_session._open.directory),
    "session_ns": ray_session._open.startup_ns,
    "startup_ns": [first.startup_ns, second.startup_ns],
    "niceness": os.environ["RAY_worker_niceness"],
    "threads": os.environ["OMP_NUM_THREADS"],
}
print(json.dumps(seen), file=sys.stderr)
"""


def test_an_unknown_style_is_refused():
    with (
        pytest.raises(ParameterError, match=r"^style: unknown 'papper'; did you mean paper\?$"),
        ray_session.session("papper", Probe(1, 0, False)),
    ):
        pass


def test_a_session_prints_nothing_is_charged_and_leaves_nothing():
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    seen = json.loads(line)
    assert min(seen["startup_ns"]) > seen["session_ns"] > 0
    assert (seen["niceness"], seen["threads"]) == ("0", "1")
    assert not Path(seen["directory"]).exists()
    assert not list(Path("/dev/shm").glob("*plasma*"))


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_session, "_TEMPORARY", tmp_path)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait(timeout=60)
    kept = [tmp_path / f"ray-bench-{os.getppid()}", tmp_path / "ray-bench-notes"]
    for directory in [*kept, tmp_path / f"ray-bench-{dead.pid}", tmp_path / f"ray-bench-{os.getpid()}"]:
        (directory / "logs").mkdir(parents=True)
    made = ray_session._new_directory()
    assert sorted(tmp_path.iterdir()) == sorted([*kept, made])
    assert list(made.iterdir()) == []


def test_a_session_closes_although_a_child_ends_while_its_name_is_asked_for(tmp_path, monkeypatch):
    def name(process):
        raise psutil.NoSuchProcess(process.pid)

    directory = tmp_path / "session"
    directory.mkdir()
    shut_down = []
    monkeypatch.setenv("RAY_BENCH_TEST", "of the session")
    monkeypatch.setattr(psutil.Process, "name", name)
    monkeypatch.setattr(ray_session.ray, "shutdown", lambda: shut_down.append(True))
    monkeypatch.setattr(ray_session, "_open", ray_session._Open("paper", directory, {"RAY_BENCH_TEST": "before"}))
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE):
        ray_session.stop()
    assert shut_down == [True]
    assert not directory.exists()
    assert os.environ["RAY_BENCH_TEST"] == "before"
    assert ray_session._open is None
