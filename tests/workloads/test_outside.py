"""Backends, actor systems and workloads from outside: named by their paths, judged by their digests."""

import json
import re
import sys

import pytest

from tests.pages import ROOT
from tests.pages import execute as program
from workloads import outside
from workloads.actors.system import load
from workloads.catalogue import backend_of, execute, runs, workload_of
from workloads.parameter import ParameterError
from workloads.probe import Probe

SUITE = ROOT / "examples" / "suite"
SHORT = {"rounds": 3, "warmup_rounds": 1}


pytestmark = pytest.mark.usefixtures("forgotten")


def digests(workload, *backends):
    return {execute(workload, backend, SHORT, verify=True).digest for backend in ("serial", *backends)}


def test_a_function_of_a_file_computes_what_the_loop_does():
    assert len(digests("gym_sampling", outside.entered(f"{SUITE}/futures_backend.py:run"))) == 1


def test_a_system_of_a_file_runs_every_workload():
    system = outside.entered(f"{SUITE}/futures_system.py:System")
    assert system == "futures_system.py:System"
    for workload in ("gym_sampling", "ppo"):
        assert len(digests(workload, system)) == 1


def test_a_folder_is_a_workload_for_reactors_and_for_every_system():
    workload = outside.entered(f"{SUITE}/random_walk")
    system = outside.entered(f"{SUITE}/futures_system.py:System")
    assert len(digests(workload, "reactor-inline", "reactor-processes", system)) == 1
    assert workload_of(workload).title == "Random walk"


def test_a_backend_that_computes_something_else_is_found(tmp_path):
    (tmp_path / "other.py").write_text(
        "def run(task, probe):\n    probe.ready()\n    for _ in range(task.total_rounds):\n        probe.round()\n"
    )
    assert len(digests("gym_sampling", outside.entered(f"{tmp_path}/other.py:run"))) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}/absent.py:run", "absent.py: there is no such file or folder"),
        ("{}/empty.py:run", "empty.py has no run"),
        ("{}/empty.py", "name a function or a class in it, as in empty.py:run"),
        ("{}/json.py:run", "another module is called json"),
        ("{}/names_nothing.py:run", "names_nothing.py cannot be imported: NameError"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(text, message, tmp_path):
    for name, content in (("empty.py", ""), ("json.py", ""), ("names_nothing.py", "nothing")):
        (tmp_path / name).write_text(content)
    with pytest.raises(ParameterError, match=message) as caught:
        backend_of(outside.entered(text.format(tmp_path)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("facts", "message"), [(None, "no facts.toml"), ("title = 3 4", "no facts.toml"), ('title = ""', "missing")]
)
def test_a_folder_without_the_facts_is_no_workload(facts, message, tmp_path):
    folder = tmp_path / f"workload_{len(facts or '')}"
    folder.mkdir()
    (folder / "__init__.py").touch()
    if facts is not None:
        (folder / "facts.toml").write_text(facts)
    with pytest.raises(ParameterError, match=message):
        workload_of(outside.entered(str(folder)))


def test_two_things_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text("def run(task, probe): ...")
    assert outside.entered(f"{tmp_path}/a/mine.py:run") == outside.entered(f"{tmp_path}/a/mine.py:run") == "mine.py:run"
    with pytest.raises(ParameterError, match=r"a/mine.py:run has the same name; rename one of the two$"):
        outside.entered(f"{tmp_path}/b/mine.py:run")


def test_a_folder_that_is_called_like_a_workload_of_the_suite_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"^workload: ppo is one of the suite"):
        workload_of(outside.entered(str(tmp_path / "ppo")))


def test_a_system_runs_no_workload_without_a_program_for_actors(tmp_path):
    folder = tmp_path / "loop_only"
    folder.mkdir()
    for name in ("__init__.py", "task.py", "on_serial.py", "facts.toml"):
        (folder / name).write_text((SUITE / "random_walk" / name).read_text())
    workload = outside.entered(str(folder))
    assert runs(workload, "serial")
    assert not runs(workload, outside.entered(f"{SUITE}/futures_system.py:System"))


def test_a_system_closes_where_nothing_was_started():
    with load(outside.entered(f"{SUITE}/futures_system.py:System"))(Probe(1, 0, False)):
        pass


@pytest.mark.parametrize("name", ["serial", "gym_sampling", "CartPole-v1", "a:b"])
def test_a_word_that_is_no_path_stays_as_it_is(name):
    assert outside.entered(name) == name
    assert outside.PLACES == {}


@pytest.mark.real
def test_a_run_of_the_harness_has_rows_of_them_and_can_be_resumed(tmp_path):
    words = [sys.executable, "-m", "harness", "run", "--preset", "smoke", "--backend", "serial"]
    words += ["--workload", "examples/suite/random_walk", "--backend", "examples/suite/futures_system.py:System"]
    words += ["--output", str(tmp_path / "out")]
    for more in ((), ("--resume", "--trials", "2")):
        done = program([*words, *more], cwd=ROOT)
        assert done.returncode == 0, done.stderr
    grid = json.loads((tmp_path / "out" / "grid.json").read_text())
    assert grid["outside"].keys() == {"random_walk", "futures_system.py:System"}
    rows = (tmp_path / "out" / "measurements.csv").read_text().splitlines()
    throughput = [row for row in rows if ",futures_system.py:System," in row and ",throughput," in row]
    assert len(throughput) == 2
    assert all(re.search(r",ok,\"?random_walk", row) for row in throughput)
    done = program([sys.executable, "-m", "harness", "report", str(tmp_path / "out")], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "figures" / "actor_systems.svg").exists()
    assert re.search(
        r"^futures_system.py:System: \S+x the speed of serial, with its digest, at 1 of 1 point$",
        done.stdout,
        re.MULTILINE,
    )
