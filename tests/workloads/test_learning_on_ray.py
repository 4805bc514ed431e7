"""Q-learning, PPO and Traffic Junction on Ray actors compute the bits that the serial loop computes.

All of them in one file, by style: a session of Ray takes long to open, and a process has one at a time.
"""

import pytest

from workloads import ray_session
from workloads.catalogue import execute

TASKS = {
    "q_learning": {
        "actors": 3,
        "steps": 10,
        "rounds": 4,
        "warmup_rounds": 1,
        "minibatch": 30,
        "capacity": 50,
    },
    "q_learning, tensors": {
        "actors": 3,
        "steps": 10,
        "rounds": 3,
        "warmup_rounds": 1,
        "minibatch": 30,
        "representation": "tensors",
    },
    "multi_agent, tensors": {"agents": 3, "rounds": 20, "warmup_rounds": 2, "representation": "tensors"},
    "ppo": {"actors": 3, "steps": 5, "rounds": 2, "warmup_rounds": 1},
    "multi_agent": {"agents": 3, "rounds": 30, "warmup_rounds": 2, "episode_steps": 15},
}


@pytest.fixture(scope="module", autouse=True)
def _ray():
    yield
    ray_session.stop()


@pytest.mark.slow(
    reason="seconds for each actor, which imports torch; `make test` has other tasks on Ray, and these on reactors"
)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("style", ["paper", "pooled", "pooled-compiled"])
def test_ray_computes_what_the_loop_does(style, task):
    workload, _, _ = task.partition(",")
    expected = execute(workload, "serial", TASKS[task], verify=True)
    outcome = execute(workload, f"ray-{style}", TASKS[task], verify=True)
    assert outcome.digest == expected.digest
    assert outcome.state_digest == expected.state_digest
