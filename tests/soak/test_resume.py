"""PPO that is killed at a random step, on CartPole and on Pong: resumed, it ends with the same weights."""

import random

import pytest

pytest.importorskip("torch")

from tests.examples.killed_ppo import trained

STEPS = 32  # of a round
RUNS = {
    "CartPole-v1": (20, range(50)),  # iterations, kills
    "ALE/Pong-v5": (5, range(10)),
}

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The weights of runs that are not killed."""
    directory = tmp_path_factory.mktemp("whole")
    return {name: trained(_arguments(name), directory / name.replace("/", "-")) for name in RUNS}


def _arguments(name):
    return ["--env", name, "--envs", "4", "--iterations", str(RUNS[name][0])]


@pytest.mark.parametrize(("name", "kill"), [(name, kill) for name, (_, kills) in RUNS.items() for kill in kills])
def test_a_killed_run_ends_with_the_same_weights(name, kill, whole, tmp_path):
    draw = random.Random(f"{name} {kill}")
    trained(_arguments(name), tmp_path / "checkpoint", kill_at=draw.randint(1, STEPS * RUNS[name][0]))
    assert trained([*_arguments(name), "--workers", str(draw.randint(1, 3))], tmp_path / "checkpoint") == whole[name]
