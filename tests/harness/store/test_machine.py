"""The description of the machine, and when two of them are the same."""

import copy
import json

import pytest

from harness.measure import measured_processes
from harness.store import machine


@pytest.fixture(scope="module")
def described():
    return machine.describe()


def test_it_says_what_a_reader_of_the_numbers_needs_and_is_the_same_as_itself(described):
    assert described["cpu"]["model"]
    assert 1 <= described["cores_allowed"] <= described["cpu"]["cores"]
    assert described["memory_gib"] > 0
    assert described["kernel"]
    assert described["interpreter"]["version"].startswith("3.")
    assert "numpy" in described["packages"]
    assert machine.differences(json.loads(json.dumps(described)), described) == ""


def test_a_session_says_what_was_called_and_no_setting_of_ray_as_it_reaches_no_trial(monkeypatch, tmp_path):
    told = {"OMP_NUM_THREADS": "4", "REACTORLIB_SCHEDULES": "walked"}
    untold = {"SECRET_TOKEN": "x", "RAY_worker_niceness": "7", "RAY_ADDRESS": "192.0.2.1:6379"}
    for name, value in (told | untold).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    command = ["run", "--free-threaded", f"{tmp_path}/venv/python", f"--output={tmp_path / 'out'}", "/elsewhere"]
    session = machine.describe_session(command, {"OMP_NUM_THREADS": "1"})
    assert session["command"] == ["run", "--free-threaded", "venv/python", "--output=out", "/elsewhere"]
    assert session["variables"].items() >= told.items()
    assert not session["variables"].keys() & untold.keys()
    assert session["variables_of_workers"] == {"OMP_NUM_THREADS": "1"}
    assert {"commit", "dirty", "load_average", "started_at"} <= session.keys()
    json.dumps(session)
    of_trials = measured_processes.environment(measured_processes.OWN_TREE, tmp_path)
    assert [name for name in of_trials if name.startswith("RAY_")] == ["RAY_TMPDIR"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda other: other["cpu"].update(model="Z80"), "cpu model Z80 there"),
        (lambda other: other.update(cores_allowed=99), "cores_allowed 99 there"),
        (lambda other: other["packages"].update(ray="1.0"), "packages ray 1.0 there"),
        (lambda other: other["packages"].pop("numpy"), "packages numpy None there"),
        (lambda other: other["interpreter"].update(free_threaded_build=2), "free_threaded_build 2 there"),
        (lambda other: other.pop("kernel"), "kernel None there"),
        (lambda other: other["clock_speed"].update(turbo="low"), "clock_speed turbo low there"),
        (lambda other: other["interpreters"].update(other={}), "interpreters other {} there, None here"),
    ],
)
def test_another_machine_is_told_apart(described, change, words):
    other = copy.deepcopy(described)
    change(other)
    assert words in machine.differences(other, described)


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")


@pytest.fixture
def cpus(tmp_path, monkeypatch):
    """A machine of four CPUs, two to a core, of which three are allowed."""
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    for cpu, governor in enumerate(("performance", "powersave", "performance", "else")):
        siblings = f"{cpu % 2},{cpu % 2 + 2}"
        told = {"cpufreq/scaling_governor": governor, "topology/thread_siblings_list": siblings}
        write(tmp_path / f"cpu{cpu}", told)
    return tmp_path


@pytest.mark.parametrize(
    ("files", "turbo"),
    [
        ({}, None),
        ({"intel_pstate/no_turbo": "0"}, True),
        ({"intel_pstate/no_turbo": "1"}, False),
        ({"cpufreq/boost": "0"}, False),
        ({"cpufreq/boost": "1"}, True),
    ],
)
def test_what_sets_the_clock_and_what_shares_a_core_is_told_if_known(cpus, described, files, turbo):
    write(cpus, files)
    assert machine.describe_cpus(cpus) == {
        "clock_speed": {"governors": ["performance", "powersave"], "turbo": turbo},
        "siblings": ["0,2", "1,3"],
    }
    unknown = {"clock_speed": {"governors": None, "turbo": None}, "siblings": None}
    assert machine.describe_cpus(cpus / "nowhere") == unknown
    assert unknown.keys() <= described.keys()


def test_processors_that_share_a_core_and_numa_nodes_are_named():
    assert machine.sharing({}) == machine.sharing({"threads_per_core": 1, "numa_nodes": 1}) == ""
    assert machine.sharing({"threads_per_core": 2, "numa_nodes": 1}) == " with 2 CPUs each"
    assert machine.sharing({"threads_per_core": 2, "numa_nodes": 2}) == " with 2 CPUs each on 2 NUMA nodes"
