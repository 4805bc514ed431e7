"""The description of the machine, and when two of them are the same."""

import copy
import json

import pytest

from harness import machine


@pytest.fixture(scope="module")
def described():
    return machine.describe()


def test_it_says_what_a_reader_of_the_numbers_needs(described):
    assert described["cpu"]["model"]
    assert 1 <= described["cores_allowed"] <= described["cpu"]["cores"]
    assert described["memory_gib"] > 0
    assert described["kernel"]
    assert described["interpreter"]["version"].startswith("3.")
    assert "numpy" in described["packages"]
    assert 0 < described["clock"]["tick_ns"] < 1_000_000
    json.dumps(described)


def test_a_session_says_what_was_called_on_which_code(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setenv("REACTORLIB_FORCE_FALLBACK", "1")
    monkeypatch.setenv("SECRET_TOKEN", "x")
    session = machine.describe_session(["run"], {"OMP_NUM_THREADS": "1"})
    assert session["command"] == ["run"]
    assert session["variables"]["OMP_NUM_THREADS"] == "4"
    assert session["variables"]["REACTORLIB_FORCE_FALLBACK"] == "1"
    assert session["variables_of_workers"] == {"OMP_NUM_THREADS": "1"}
    assert "SECRET_TOKEN" not in session["variables"]
    assert {"commit", "dirty", "load_average", "started_at"} <= session.keys()
    json.dumps(session)


def test_a_machine_is_the_same_as_itself(described):
    assert machine.differences(json.loads(json.dumps(described)), described) == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda other: other["cpu"].update(model="Z80"), "cpu model Z80 there"),
        (lambda other: other.update(cores_allowed=99), "cores_allowed 99 there"),
        (lambda other: other["packages"].update(ray="1.0"), "packages ray 1.0 there"),
        (lambda other: other["packages"].pop("numpy"), "packages numpy None there"),
        (lambda other: other["interpreter"].update(free_threaded_build=2), "free_threaded_build 2 there"),
        (lambda other: other.pop("kernel"), "kernel None there"),
    ],
)
def test_another_machine_is_told_apart(described, change, words):
    other = copy.deepcopy(described)
    change(other)
    assert words in machine.differences(other, described)
