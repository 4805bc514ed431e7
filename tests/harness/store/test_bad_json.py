"""Files that somebody edited: whatever JSON they hold, a command works or refuses them in one line, and soon."""

import json

import pytest

from harness.store import machine
from harness.store.run_directory import GRID_NAME
from tests.choice import first
from tests.harness import runs

DEEP = "[" * 20_000 + "]" * 20_000
WRONG = ("null", "true", "-1", "1000000000", "1e400", "NaN", '"text"', '"\\ud800"', "[]", "[null]", "{}", DEEP)
MARK = "\x00mark"
COMMANDS = ("report", "resume", "compare")


@pytest.fixture
def ask(harness, tmp_path):
    """Runs a command on a run of this machine; its status, after having checked that it ended in one line."""
    described = machine.describe()
    chosen = runs.grid(backends=("serial", "reactor-inline"), trials=3)
    base, path = (runs.write(tmp_path / name, chosen=chosen, described=described) for name in ("base", "run"))
    arguments = {
        "report": ("report", path, "--json"),
        "resume": ("run", "--output", path, "--resume", "--dry-run"),
        "compare": ("compare", base, path),
    }

    def ask(command, name):
        done = harness(*arguments[command])
        if done.returncode == 2:
            assert (done.stdout, done.stderr.count("\n")) == ("", 1)
            assert done.stderr.startswith("harness: ")
            assert name in done.stderr
        else:
            assert done.returncode == 0, done.stderr
        return done

    ask.path = path
    return ask


def places(content, replaced=lambda mark: mark):
    """The document with each of its values marked in turn; of a list, its first."""
    yield replaced(MARK)
    if isinstance(content, dict):
        for name, value in content.items():
            yield from places(value, lambda mark, name=name: replaced({**content, name: mark}))
    elif isinstance(content, list) and content:
        yield from places(content[0], lambda mark: replaced([mark, *content[1:]]))


@pytest.mark.parametrize("command", first(1, COMMANDS, "every value of two files wrong, for each command"))
@pytest.mark.parametrize("name", [machine.FILE_NAME, GRID_NAME])
def test_no_value_of_a_wrong_type_ends_in_a_traceback(ask, name, command):
    assert ask(command, name).returncode == 0
    file = ask.path / name
    marked = [json.dumps(content) for content in places(json.loads(file.read_text()))]
    refused = 0
    # Every value is wrong in some way, and over the places in every way.
    for number, text in enumerate(marked):
        for wrong in (WRONG[number % len(WRONG)], WRONG[(number * 5 + 1) % len(WRONG)]):
            file.write_text(text.replace(json.dumps(MARK), wrong))
            done = ask(command, "")
            refused += done.returncode == 2
    assert refused > len(marked)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (machine.FILE_NAME, {"sessions": 1}, "machine.json: broken (sessions: expected array, got int)"),
        (machine.FILE_NAME, {"cpu": {"cores": "4"}}, "(cpu.cores: expected int | null, got str)"),
        (GRID_NAME, {"points": [{"trials": 1.5}]}, "(points[0].trials: expected int, got float)"),
        (GRID_NAME, {"time_limit_s": 1e300}, "(time_limit_s: expected float <="),
        (GRID_NAME, {"schema": 4}, "describes no grid of this version (schema 4, where this version reads 5)"),
        (GRID_NAME, {"schema": "5"}, "grid.json: broken (schema: expected int, got str)"),
        (GRID_NAME, {"points": []}, "grid.json: broken (points: expected array of length >= 1"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(ask, command, name, change, message):
    file = ask.path / name
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    done = ask(command, name)
    assert message in done.stderr


def test_a_number_that_is_too_large_is_named_without_a_path_that_names_nothing(ask):
    (ask.path / machine.FILE_NAME).write_text('{"interpreters": {"": {"packages": {"a": [1e400]}}}}')
    assert "machine.json: broken (number out of range)" in ask("report", machine.FILE_NAME).stderr
