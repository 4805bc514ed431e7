"""A backend runs on the interpreter that it names, beside those of the suite's own."""

import json
import sys
import warnings
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.measure import side
from harness.measure.side import GIL_IS_ON
from harness.plan.presets import PRESETS
from harness.plan.selection import select
from harness.store import interpreters
from harness.store.trial_records import TRIALS
from workloads import catalogue
from workloads.catalogue import BESIDE_A_GIL, FREE_THREADED
from workloads.parameter import UnsupportedError

NOGIL = "serial-nogil"
ORDER = {"workload": "fake", "backend": NOGIL, "parameters": {}, "verify_rounds": 1, "options": {}}
TOLD = {"interpreter": {"version": "3.14.0", "free_threaded_build": True}, "packages": {"numpy": "2.4.6"}}


@pytest.fixture
def python(tmp_path):
    """Makes an interpreter that says this of itself, and is this one all the same."""

    def python(told):
        path = tmp_path / "python"
        answer = f"case $2 in *interpreter.py) echo '{json.dumps(told)}'; exit;; esac\n"
        path.write_text(f'#!/bin/sh\n{answer}exec {sys.executable} "$@"\n')
        path.chmod(0o755)
        return path

    return python


@pytest.fixture
def loading(monkeypatch, fake):
    """Has this happen when the backend is loaded."""

    def loading(act):
        monkeypatch.setattr(catalogue, "load", lambda *_: act())

    with warnings.catch_warnings():
        yield loading


def test_an_interpreter_is_found_by_its_path_and_stays_the_link_that_an_environment_needs(tmp_path, monkeypatch):
    (tmp_path / "python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    assert interpreters.find(["serial"], {}) == {"": sys.executable}
    assert interpreters.find(["serial", NOGIL], {FREE_THREADED: "./python"}) == {
        "": sys.executable,
        FREE_THREADED: str(tmp_path / "python"),
    }


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({**TOLD, "interpreter": {"free_threaded_build": False}}, "was built with a GIL"),
        ({**TOLD, "packages": {}}, "lacks numpy"),
    ],
)
def test_an_interpreter_that_cannot_serve_is_refused(python, told, reason):
    with pytest.raises(UsageError, match=reason):
        interpreters.describe(FREE_THREADED, str(python(told)))


def test_what_is_no_python_is_refused():
    with pytest.raises(UsageError, match=r"/bin/true: cannot describe itself"):
        interpreters.describe(FREE_THREADED, "/bin/true")


def test_a_run_with_such_an_interpreter_has_the_backends_for_it_and_time_for_them():
    plain, more = select("quick"), select("quick", free_threaded=True)
    assert more.grid.backends == (*PRESETS["quick"].backends, *BESIDE_A_GIL)
    assert more.grid.budget_s / len(more.grid.backends) == plain.grid.budget_s / len(plain.grid.backends)
    assert select("quick", backends=["serial"], free_threaded=True).grid.backends == ("serial",)


def test_a_backend_runs_on_its_interpreter_and_fails_if_that_has_a_gil_all_the_same(harness, python):
    arguments = ("--workload", "fake", "--backend", "serial", "--backend", NOGIL, "--trials", "1")
    done = harness("run", *arguments, "--free-threaded", python(TOLD), "--output", "out")
    statuses = {trial.backend: trial.status for trial in TRIALS.read(Path("out"))}
    described = json.loads(Path("out/machine.json").read_bytes())
    assert done.returncode == 1
    assert statuses["serial"] == "ok"
    assert GIL_IS_ON in statuses[NOGIL]
    assert described["interpreters"] == {FREE_THREADED: {**TOLD["interpreter"], "packages": TOLD["packages"]}}


def test_an_extension_module_that_switches_the_gil_on_is_named(loading):
    loading(lambda: warnings.warn("The global interpreter lock (GIL) has been enabled to load module 'locked'",
                                  RuntimeWarning, stacklevel=1))  # fmt: skip
    with pytest.raises(RuntimeWarning, match="locked"):
        side.run_workload(ORDER, None)


@pytest.mark.parametrize(("backend", "raised"), [(NOGIL, UnsupportedError), ("serial", ModuleNotFoundError)])
def test_a_package_that_its_environment_lacks_is_a_reason_and_no_failure(loading, backend, raised):
    def lacks():
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    loading(lacks)
    with pytest.raises(raised, match="torch"):
        side.run_workload({**ORDER, "backend": backend}, None)
