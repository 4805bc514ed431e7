"""RLlib as a peer, in an environment of its own: `make install-rllib`."""

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.store import interpreters
from harness.store.trial_records import TRIALS

INSTALLED = (Path(__file__).parents[3] / ".venv-rllib" / "bin" / "python").exists()
POINTS = (
    ("gym_sampling", ("actors=4", "env=CartPole-v1", "rounds=50")),
    ("ppo", ("actors=4", "env=CartPole-v1", "steps=8", "rounds=2")),
)


def test_without_its_environment_the_command_that_makes_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(interpreters, "_TREE", tmp_path)
    with pytest.raises(UsageError, match=r"\.venv-rllib/bin/python: .*make install-rllib"):
        interpreters.find(["serial", "rllib"], {})


@pytest.mark.skipif(not INSTALLED, reason="needs `make install-rllib`")
@pytest.mark.parametrize(("workload", "settings"), POINTS, ids=[workload for workload, _ in POINTS])
def test_env_runners_sample_and_train(harness, workload, settings):
    chosen = [word for setting in settings for word in ("--set", f"{workload}.{setting}")]
    backends = ("--backend", "serial", "--backend", "rllib")
    done = harness("run", "--workload", workload, *backends, *chosen, "--trials", "1", "--output", "out")
    assert done.returncode == 0, done.stderr
    assert {trial.backend: trial.status for trial in TRIALS.read(Path("out"))} == {"serial": "ok", "rllib": "ok"}


@pytest.mark.skipif(not INSTALLED, reason="needs `make install-rllib`")
def test_runners_of_unequal_size_are_refused(harness):
    arguments = ("--workload", "gym_sampling", "--set", "env=CartPole-v1", "--set", "actors=3", "--trials", "1")
    harness("run", *arguments, "--backend", "serial", "--backend", "rllib", "--output", "out")
    statuses = {trial.backend: trial.status for trial in TRIALS.read(Path("out"))}
    assert "equal numbers of environments" in statuses["rllib"]
