"""RLlib as a peer, in an environment of its own: `make install-rllib`."""

import re
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.store import interpreters
from harness.store.trial_records import TRIALS

INSTALLED = (Path(__file__).parents[3] / ".venv-rllib" / "bin" / "python").exists()


def test_without_its_environment_the_command_that_makes_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(interpreters, "_TREE", tmp_path)
    with pytest.raises(UsageError, match=r"\.venv-rllib/bin/python: .*make install-rllib"):
        interpreters.find(["serial", "rllib"], {})


@pytest.mark.skipif(not INSTALLED, reason="needs `make install-rllib`")
@pytest.mark.parametrize(
    ("workload", "settings", "status"),
    [
        ("gym_sampling", ("actors=4", "rounds=50"), "ok"),
        ("ppo", ("actors=4", "steps=8", "rounds=2"), "ok"),
        ("gym_sampling", ("actors=3",), ".*equal numbers of environments.*"),
    ],
)
def test_env_runners_of_equal_size_sample_and_train(harness, workload, settings, status):
    chosen = [word for setting in ("env=CartPole-v1", *settings) for word in ("--set", f"{workload}.{setting}")]
    backends = ("--backend", "serial", "--backend", "rllib")
    harness("run", "--workload", workload, *backends, *chosen, "--trials", "1", "--output", "out")
    statuses = {trial.backend: trial.status for trial in TRIALS.read(Path("out"))}
    assert statuses["serial"] == "ok"
    assert re.fullmatch(status, statuses["rllib"])
