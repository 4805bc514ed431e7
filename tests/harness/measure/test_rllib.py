"""RLlib as a peer, in an environment of its own: `make install-rllib`."""

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.store import interpreters
from harness.store.trial_records import TRIALS
from reactorlib import cpus

INSTALLED = (Path(__file__).parents[3] / ".venv-rllib" / "bin" / "python").exists()


def test_without_its_environment_the_command_that_makes_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(interpreters, "_TREE", tmp_path)
    with pytest.raises(UsageError, match=r"\.venv-rllib/bin/python: .*make install-rllib"):
        interpreters.find(["serial", "rllib"], {})


@pytest.mark.skipif(not INSTALLED, reason="needs `make install-rllib`")
@pytest.mark.parametrize(
    ("workload", "settings"),
    [
        ("gym_sampling", ("actors=4", "rounds=50")),
        ("ppo", ("actors=4", "steps=8", "rounds=2")),
        ("gym_sampling", ("actors=9", "rounds=50")),  # by three of four runners
    ],
)
def test_env_runners_of_equal_size_sample_and_train(harness, monkeypatch, workload, settings):
    monkeypatch.setenv(cpus.COUNT_VARIABLE, "4")
    chosen = [word for setting in ("env=CartPole-v1", *settings) for word in ("--set", f"{workload}.{setting}")]
    backends = ("--backend", "serial", "--backend", "rllib")
    harness("run", "--workload", workload, *backends, *chosen, "--trials", "1", "--output", "out")
    statuses = {trial.backend: trial.status for trial in TRIALS.read(Path("out"))}
    assert statuses == {"serial": "ok", "rllib": "ok"}
