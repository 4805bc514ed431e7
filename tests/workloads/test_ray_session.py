"""The Ray session: quiet, charged to the run that uses it, and gone without a trace when its process ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workloads import ray_session
from workloads.parameter import ParameterError
from workloads.probe import Probe
from workloads.ray_styles import QUIET, STYLES

ROOT = Path(__file__).parents[2]

# Two runs in a process that ends without closing its session: the second is charged what the first paid.
SCRIPT = """
import json, os, sys
from workloads import ray_session
from workloads.catalogue import execute
small = {"shape": "fan_out", "actors": 2, "messages_per_round": 2, "rounds": 2}
first, second = (execute("overhead", "ray-pooled", small, verify=False) for _ in range(2))
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


def test_a_session_prints_nothing_is_charged_and_leaves_nothing(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False,
        env=os.environ | {"HOME": str(tmp_path)},
    )  # fmt: skip
    assert list(tmp_path.iterdir()) == []
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


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """The variables that Ray was started with, by its name, in sessions that start nothing."""
    seen = {}

    def init(**_):
        seen.update({name: value for name, value in os.environ.items() if name.startswith("RAY_")})

    monkeypatch.setattr(ray_session, "_TEMPORARY", tmp_path)
    monkeypatch.setattr(ray_session.ray, "init", init)
    monkeypatch.setattr(ray_session.ray, "shutdown", lambda: None)
    yield seen
    ray_session.stop()


@pytest.mark.parametrize("style", STYLES)
def test_of_a_users_settings_none_reaches_ray_and_all_are_put_back(seen, tmp_path, monkeypatch, style):
    ray_session.stop()
    users = {"RAY_worker_niceness": "7", "RAY_max_direct_call_object_size": "1", "RAY_ADDRESS": "192.0.2.1:6379"}
    for name, value in users.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    ray_session.start(style, Probe(1, 0, False))
    directory = tmp_path / f"ray-bench-{os.getpid()}"
    assert len(seen.pop("RAY_AUTH_TOKEN")) == 64
    assert seen == {**QUIET, **STYLES[style], "RAY_TMPDIR": str(directory)}
    assert directory.is_dir()
    ray_session.stop()
    assert dict(os.environ) == before
    assert not directory.exists()
