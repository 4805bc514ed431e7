"""The command `evaluate`: a file of rows that depends on nothing but the episodes, also if it was interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.reactorlib.scripts import ROOT

pytest.importorskip("gymnasium")

MODULE = """
import os
import time

import gymnasium
import numpy as np


class Walk(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.number, self.at = seed, self.np_random.random(1)
        return self.at, {}

    def step(self, action):
        if self.number >= 6 and "STUCK" in os.environ:
            time.sleep(1000)
        if self.number == 3 and "BROKEN" in os.environ:
            raise RuntimeError("broken")
        self.at = self.at + self.np_random.random(1) + action
        return self.at, float(self.at[0]), bool(self.at[0] > 9), False, {}


def policy(observations):
    return (observations[:, 0] * 10).astype(np.int64) % 2


def raises(observations):
    return 1 // 0


def scalar(observations):
    return 1


def nothing(observations):
    pass


def makes_a_number():
    return 3


number = 3
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "walk.py"
    path.write_text(MODULE)
    return path


def of(file, *more, env="Walk", policy="policy"):
    return ["evaluate", f"{file}:{env}", "--policy", f"{file}:{policy}", "--episodes", "10", *more]


def test_the_file_is_the_same_for_any_number_of_environments_and_workers(call, file, tmp_path):
    one, many = tmp_path / "one.jsonl", tmp_path / "many.jsonl"
    done = call(*of(file, "--envs", "1", "-o", str(one)))
    assert (done.code, call(*of(file, "--envs", "4", "--workers", "2", "-o", str(many))).code) == (0, 0)
    assert one.read_bytes() == many.read_bytes()
    head, *rows = map(json.loads, one.read_text().splitlines())
    assert [row["seed"] for row in rows] == list(range(10))
    assert head["versions"]["gymnasium"]
    assert done.out.splitlines()[-1].startswith("mean return ")
    assert done.out.endswith("10 episodes, 0 failed\n")


def test_an_episode_that_fails_ends_with_1(call, file, monkeypatch):
    monkeypatch.setenv("BROKEN", "1")
    done = call(*of(file, "--json"))
    record = json.loads(done.out)
    assert (done.code, record["errors"], record["rows"][3]["ended"]) == (1, 1, "error")
    assert call(*of(file)).out.startswith("episode 3 failed: RuntimeError: broken (walk.py:")


def test_two_files_are_compared(call, file, tmp_path, monkeypatch):
    one, other = (str(tmp_path / name) for name in ("one.jsonl", "other.jsonl"))
    for path, *more in ((one,), (other, "--max-steps", "3")):
        assert call(*of(file, "-o", path, *more)).code == 0
    assert call("evaluate", "--compare", one, one)[:2] == (0, "all 10 rows are equal\n")
    done = call("evaluate", "--compare", one, other)
    assert done.code == 1
    assert done.out.startswith("10 of 10 rows differ, 0 of them")
    assert done.out.endswith("the headers differ in max_steps\n")
    found = call("evaluate", "--compare", one, other, "--json")
    assert json.loads(found.out) == {"episodes": [*range(10)], "header": ["max_steps"]}
    done = call("evaluate", "--compare", one, str(tmp_path / "none.jsonl"))
    assert (done.code, "No such file" in done.err) == (2, True)


def test_a_policy_that_raises_shows_the_users_frames_and_leaves_no_file(call, file, tmp_path):
    path = tmp_path / "rows.jsonl"
    done = call(*of(file, "-o", str(path), policy="raises"))
    assert (done.code, path.exists()) == (1, False)
    assert done.err.count("  File ") == 1
    assert done.err.endswith(f"reactorlib: --policy {file}:raises raised ZeroDivisionError\n")
    assert call(*of(file, "-o", str(path))).code == 0


@pytest.mark.parametrize("which", ["env_file", "policy_file"])
def test_an_evaluation_of_a_file_that_was_changed_is_not_resumed(call, file, tmp_path, which):
    path, other = str(tmp_path / "rows.jsonl"), tmp_path / "policy.py"
    other.write_text(MODULE)
    arguments = [*of(file, "-o", path), "--policy", f"{other}:policy"]
    assert call(*arguments).code == 0
    assert call(*arguments, "--resume").code == 0
    changed = file if which == "env_file" else other
    changed.write_text(MODULE + "number = 4\n")
    done = call(*arguments, "--resume")
    assert (done.code, done.err.endswith(f"it differs in {which}\n")) == (2, True)


@pytest.mark.parametrize("has_file", [True, False])
def test_an_interrupt_promises_no_file_that_is_not_there(call, file, tmp_path, monkeypatch, has_file):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("reactorlib.gymnasium.evaluation.evaluate", interrupted)
    path = tmp_path / "rows.jsonl"
    done = call(*of(file, *(["-o", str(path)] if has_file else [])))
    assert (done.code, done.err, path.exists()) == (130, "reactorlib: interrupted\n", False)


def test_an_interrupted_evaluation_keeps_what_has_ended_and_is_completed(call, file, tmp_path):
    part, whole = tmp_path / "part.jsonl", tmp_path / "whole.jsonl"
    command = [sys.executable, "-m", "reactorlib", *of(file, "--envs", "1", "-o", str(part))]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"STUCK": "1"}, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not (part.exists() and len(part.read_text().splitlines()) == 7) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == f"reactorlib: interrupted: {part} has 6 episodes, and --resume plays the others\n"
    assert [json.loads(line)["episode"] for line in part.read_text().splitlines()[1:]] == [0, 1, 2, 3, 4, 5]
    part.write_text(part.read_text() + '{"episode": 6, "se')  # as a process that was killed leaves it
    assert call(*of(file, "-o", str(part), "--resume")).code == 0
    assert call(*of(file, "-o", str(whole))).code == 0
    assert part.read_bytes() == whole.read_bytes()
    assert sorted(Path(tmp_path).glob("*.half")) == []


def test_calls_that_make_no_sense_are_one_line(call, file, tmp_path):
    there = tmp_path / "there.jsonl"
    assert call(*of(file, "-o", str(there))).code == 0
    for words, arguments in {
        "exists: --resume completes it": of(file, "-o", str(there)),
        "it differs in max_steps": of(file, "-o", str(there), "--resume", "--max-steps", "3"),
        "--resume needs the file of -o": of(file, "--resume"),
        "has no function 'nope'": of(file, policy="nope"),
        "--policy wants": ["evaluate", f"{file}:Walk", "--policy", "policy"],
        "no file": ["evaluate", f"{tmp_path}/nope.py:Walk", "--policy", f"{file}:policy"],
        "NoSuch": ["evaluate", "NoSuch-v0", "--policy", f"{file}:policy"],
        "--step-limit needs": of(file, "--step-limit", "1s", "--executor", "threads"),
        "--step-limit must be positive": of(file, "--step-limit", "0s"),
        "Is a directory": of(file, "-o", str(tmp_path)),
        "--policy returned actions of shape () for 10 rows": of(file, policy="scalar"),
        "--policy returned None for 10 rows": of(file, policy="nothing"),
        "makes_a_number returned a value of type int": of(file, env="makes_a_number"),
        "walk.py has no function 'Nope'": of(file, env="Nope"),
        "number is of type int, not a function": of(file, env="number"),
        "ENV and --policy are needed": ["evaluate", f"{file}:Walk"],
    }.items():
        done = call(*arguments)
        assert (done.code, words in done.err) == (2, True), done.err
    there.write_text("{}\n")
    assert "is no file of an evaluation" in call(*of(file, "-o", str(there), "--resume")).err
