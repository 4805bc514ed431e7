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


number = 3
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "walk.py"
    path.write_text(MODULE)
    return path


def of(file, *more):
    return ["evaluate", f"{file}:Walk", "--policy", f"{file}:policy", "--episodes", "10", *more]


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
    assert "--resume" in said
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
        "has no function 'number'": ["evaluate", f"{file}:Walk", "--policy", f"{file}:number"],
        "--policy wants": ["evaluate", f"{file}:Walk", "--policy", "policy"],
        "no file": ["evaluate", f"{tmp_path}/nope.py:Walk", "--policy", f"{file}:policy"],
        "NoSuch": ["evaluate", "NoSuch-v0", "--policy", f"{file}:policy"],
        "cannot be stopped": of(file, "--step-limit", "1s", "--executor", "threads"),
    }.items():
        done = call(*arguments)
        assert (done.code, words in done.err) == (2, True), done.err
    there.write_text("{}\n")
    assert "is no file of an evaluation" in call(*of(file, "-o", str(there), "--resume")).err
