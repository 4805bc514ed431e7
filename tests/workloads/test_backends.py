"""The serial loop and the reactors compute the same bits. For Ray see test_messages_on_ray."""

import pytest

from tests.choice import first
from workloads.catalogue import execute

CASES = {
    "broadcast_gather": ("broadcast_gather", {"actors": 3, "object_bytes": 800, "work_seconds": 0.0}),
    "broadcast_gather, one element": (
        "broadcast_gather",
        {"actors": 1, "object_bytes": 8, "work_seconds": 0.0},
    ),
    "broadcast_gather, work": ("broadcast_gather", {"actors": 2, "object_bytes": 80, "work_seconds": 0.001}),
    "CartPole": ("gym_sampling", {"actors": 3}),
    "Blackjack": ("gym_sampling", {"actors": 2, "env": "Blackjack-v1", "seed": 7}),
    "Pendulum": ("gym_sampling", {"actors": 1, "env": "Pendulum-v1"}),
    "several steps per message": ("gym_sampling", {"actors": 2, "steps_per_message": 3}),
    "Pong": ("atari_sampling", {"actors": 2}),
    "ping_pong": ("overhead", {"shape": "ping_pong"}),
    "thread_ring": ("overhead", {"shape": "thread_ring", "actors": 5}),
    "a ring of one": ("overhead", {"shape": "thread_ring", "actors": 1}),
    "counting": ("overhead", {"shape": "counting"}),
    "fan_out": ("overhead", {"shape": "fan_out", "actors": 5}),
    "fan_out to one": ("overhead", {"shape": "fan_out", "actors": 1}),
    "chain": ("overhead", {"shape": "chain", "actors": 5}),
    "timers": ("overhead", {"shape": "timers", "actors": 7}),
    "a single timer": ("overhead", {"shape": "timers", "actors": 1}),
}


def parameters(workload, values):
    block = {"messages_per_round": 6} if workload == "overhead" else {}
    return {"rounds": 8, "warmup_rounds": 2} | block | values


@pytest.mark.parametrize(("workload", "values"), CASES.values(), ids=CASES.keys())
def test_reactors_compute_what_the_loop_does(workload, values):
    values = parameters(workload, values)
    expected = execute(workload, "serial", values, verify=True)
    outcome = execute(workload, "reactor-inline", values, verify=True)
    assert outcome.digest == expected.digest
    assert outcome.state_digest == expected.state_digest
    assert outcome.rounds == len(outcome.round_ns) == 8


@pytest.mark.parametrize(("workload", "values"), CASES.values(), ids=CASES.keys())
def test_a_timed_run_ends_in_the_state_of_a_verified_one(workload, values):
    values = parameters(workload, values)
    expected = execute(workload, "serial", values, verify=True).state_digest
    for backend in ("serial", "reactor-inline"):
        timed = execute(workload, backend, values, verify=False)
        assert timed.digest == ""
        assert timed.state_digest == expected


@pytest.mark.parametrize(
    ("workload", "changes"),
    [
        ("broadcast_gather", [{}, {"seed": 1}, {"actors": 2}, {"object_bytes": 16}, {"rounds": 3}]),
        ("gym_sampling", [{}, {"seed": 1}, {"actors": 2}, {"env": "Acrobot-v1"}, {"rounds": 3}]),
        ("overhead", [{}, {"seed": 1}, {"actors": 2}, {"rounds": 3}, {"messages_per_round": 4}]),
    ],
)
def test_every_parameter_of_the_computation_shows_in_the_digest(workload, changes):
    small = {"actors": 3, "rounds": 2, "warmup_rounds": 0}
    small |= {"work_seconds": 0.0, "object_bytes": 80} if workload == "broadcast_gather" else {}
    digests = {execute(workload, "serial", small | change, verify=True).digest for change in changes}
    assert len(digests) == len(changes)


def test_the_work_of_a_worker_is_no_part_of_the_digest():
    small = {"actors": 2, "rounds": 2, "object_bytes": 80}
    digests = {
        execute("broadcast_gather", "serial", small | {"work_seconds": seconds}, verify=True).digest
        for seconds in (0.0, 0.001)
    }
    assert len(digests) == 1


@pytest.mark.parametrize("workload", first(1, ["gym_sampling", "atari_sampling"], "a second workload of one kind"))
@pytest.mark.parametrize("backend", ["serial", "reactor-inline"])
def test_the_digest_does_not_depend_on_steps_per_message(workload, backend):
    digests = {
        execute(
            workload,
            backend,
            {"actors": 2, "rounds": 30 // steps, "warmup_rounds": 0, "steps_per_message": steps},
            verify=True,
        ).digest
        for steps in (1, 3, 10)
    }
    assert len(digests) == 1
