"""PPO that is killed in a step and started again has the weights of a run that was not killed."""

import pytest

pytest.importorskip("torch")

from tests.examples.killed_ppo import trained

ARGUMENTS = ["--iterations", "3", "--envs", "3"]


def test_a_run_that_is_killed_and_resumed_has_the_weights_of_one_that_is_not(tmp_path):
    expected = trained(ARGUMENTS, tmp_path / "whole")
    checkpoint = tmp_path / "killed"
    trained(ARGUMENTS, checkpoint, kill_at=75)  # in the third round of 32 steps
    assert checkpoint.exists()
    assert trained([*ARGUMENTS, "--workers", "1"], checkpoint) == expected
