"""Peers of Ray compute the same bits where they compute the same. Otherwise they run, or say why they cannot."""

import sys

import pytest

from tests.choice import first
from tests.reactorlib.scripts import printed
from workloads.catalogue import BACKENDS, execute, make_task, run
from workloads.parameter import UnsupportedError
from workloads.probe import Probe

SHAPES = ["ping_pong", "thread_ring", "counting", "fan_out", "chain", "timers"]


@pytest.mark.parametrize("backend", ["gymnasium-sync", "gymnasium-async", "reactor-vector"])
@pytest.mark.parametrize(
    ("workload", "values"),
    first(
        2,
        [
            ("gym_sampling", {"env": "CartPole-v1", "rounds": 60}),
            ("gym_sampling", {"env": "Blackjack-v1", "rounds": 20, "steps_per_message": 3}),
            ("gym_sampling", {"env": "Taxi-v4", "rounds": 5}),
            ("atari_sampling", {"env": "Pong", "rounds": 3}),
        ],
        "every kind of environment in processes of its own; two are always tried",
    ),
    ids=["CartPole", "Blackjack", "Taxi", "Pong"],
)
def test_gymnasium_vectors_compute_what_the_loop_does(workload, values, backend):
    values = {"actors": 2, "warmup_rounds": 1, **values}
    expected = execute(workload, "serial", values, verify=True)
    outcome = execute(workload, backend, values, verify=True)
    assert outcome.digest == expected.digest
    timed = execute(workload, backend, values, verify=False)
    assert timed.state_digest == expected.state_digest


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_in_lingua_franca_computes_what_the_loop_does(shape):
    values = {"shape": shape, "actors": 0 if shape in ("ping_pong", "counting") else 5, "messages_per_round": 6}
    values |= {"rounds": 8, "warmup_rounds": 2}
    expected = execute("overhead", "serial", values, verify=True)
    probe = Probe(8, 2, verify=True)
    run("overhead", "reactor-lf", make_task("overhead", values), probe, executor="inline")  # some have nothing to place
    assert probe.outcome().digest == expected.digest
    assert probe.outcome().state_digest == expected.state_digest


@pytest.mark.parametrize(
    ("workload", "values"),
    [
        ("overhead", {"shape": "fan_out", "actors": 5, "messages_per_round": 6}),
        ("overhead", {"shape": "chain", "actors": 5, "messages_per_round": 6}),
        ("broadcast_gather", {"actors": 3, "object_bytes": 80_000, "work_seconds": 0.001}),
        ("gym_sampling", {"actors": 3}),
        ("gym_sampling", {"actors": 2, "env": "Blackjack-v1", "steps_per_message": 3}),
        ("atari_sampling", {"actors": 2, "env": "Pong"}),
        ("q_learning", {"actors": 2}),
        ("multi_agent", {"agents": 4}),
        ("ppo", {"actors": 2}),
    ],
    ids=["fan_out", "chain", "broadcast_gather", "CartPole", "Blackjack", "Pong", "q_learning", "multi_agent", "ppo"],
)
def test_lingua_franca_source_computes_what_the_reactors_do(workload, values):
    values = {"rounds": 3, "warmup_rounds": 1, **values}
    expected = execute(workload, "reactor-processes", values, verify=True)
    outcome = execute(workload, "reactor-lf", values, verify=True)
    assert outcome.digest == expected.digest != ""
    assert outcome.state_digest == expected.state_digest


@pytest.mark.parametrize("object_bytes", [8, 800_000])
def test_the_limit_copies_what_the_loop_copies(object_bytes):
    values = {"actors": 3, "object_bytes": object_bytes, "work_seconds": 0.0, "rounds": 4, "warmup_rounds": 1}
    expected = execute("broadcast_gather", "serial", values, verify=True)
    outcome = execute("broadcast_gather", "limit", values, verify=True)
    assert outcome.digest == expected.digest
    assert outcome.state_digest == expected.state_digest


def test_ales_vector_runs_what_gymnasium_plays():
    values = {"actors": 2, "rounds": 4, "warmup_rounds": 1, "steps_per_message": 2}
    outcome = execute("atari_sampling", "ale-vector", values, verify=False)
    assert len(outcome.round_ns) == 4


@pytest.mark.parametrize(
    ("workload", "values"),
    [
        ("gym_sampling", {"env": "CartPole-v1"}),
        ("gym_sampling", {"env": "Pendulum-v1"}),
        ("atari_sampling", {"env": "Pong", "frame_skip": 2}),
    ],
    ids=["CartPole", "Pendulum", "Pong"],
)
def test_envpool_runs(workload, values):
    pytest.importorskip("envpool")
    outcome = execute(workload, "envpool", {"actors": 2, "rounds": 4, "warmup_rounds": 1, **values}, verify=False)
    assert len(outcome.round_ns) == 4


PACKAGES = {
    "sb3-subproc": "stable_baselines3",
    "torchrl-parallel": "torchrl",
    "tianshou-shmem": "tianshou",
}


@pytest.mark.parametrize("backend", PACKAGES)
@pytest.mark.parametrize(
    ("workload", "values"),
    [
        ("gym_sampling", {"env": "CartPole-v1", "rounds": 60}),
        ("gym_sampling", {"env": "Pendulum-v1", "steps_per_message": 2}),
        ("atari_sampling", {"env": "Pong"}),
    ],
    ids=["CartPole", "Pendulum", "Pong"],
)
def test_vectors_of_others_run(workload, values, backend):
    pytest.importorskip(PACKAGES[backend])
    values = {"actors": 2, "rounds": 4, "warmup_rounds": 1, **values}
    outcome = execute(workload, backend, values, verify=False)
    assert len(outcome.round_ns) == values["rounds"]


@pytest.mark.parametrize("backend", ["torchrl-parallel", "tianshou-shmem"])
def test_vectors_of_others_refuse_what_they_have_no_place_for(backend):
    pytest.importorskip(PACKAGES[backend])
    with pytest.raises(UnsupportedError, match=r"what Blackjack-v1 returns$"):
        execute("gym_sampling", backend, {"env": "Blackjack-v1", "actors": 2}, verify=False)


@pytest.mark.parametrize(
    ("workload", "backend", "environment", "reason"),
    [
        ("gym_sampling", "envpool", "Taxi-v4", "^EnvPool has no environment Taxi-v4$"),
        (
            "atari_sampling",
            "ale-vector",
            "PongNoFrameskip-v4",
            "^only games by their short name .* PongNoFrameskip-v4 is none$",
        ),
        (
            "atari_sampling",
            "envpool",
            "PongNoFrameskip-v4",
            "^only games by their short name .* PongNoFrameskip-v4 is none$",
        ),
    ],
)
def test_what_a_peer_cannot_run_it_refuses_with_a_reason(workload, backend, environment, reason):
    if backend == "envpool":
        pytest.importorskip("envpool")
    with pytest.raises(UnsupportedError, match=reason):
        execute(workload, backend, {"env": environment}, verify=False)


@pytest.mark.parametrize(
    ("workload", "backend", "package", "extra"),
    [
        ("gym_sampling", "envpool", "envpool", "peers"),
        *(("gym_sampling", backend, package, "vectors") for backend, package in PACKAGES.items()),
    ],
)
def test_a_peer_that_is_not_installed_says_how_to_install_it(workload, backend, package, extra, monkeypatch):
    monkeypatch.delitem(sys.modules, f"workloads.{workload}.{BACKENDS[backend].module}", raising=False)
    for module in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, module, None)
    name = package.replace("_", "-")
    with pytest.raises(UnsupportedError, match=rf"^{name} is not installed; .* `{extra}`: pip install"):
        execute(workload, backend, {}, verify=False)


@pytest.mark.parametrize(
    ("workload", "backend", "package"), [("q_learning", "serial", "torch"), ("ppo", "ray-pooled", "ray")]
)
def test_a_workload_whose_package_is_absent_says_so(workload, backend, package):
    """In a process of its own: what is imported already is there."""
    script = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from workloads.catalogue import execute\nfrom workloads.parameter import UnsupportedError\n"
        f"try: execute({workload!r}, {backend!r}, {{}}, verify=False)\nexcept UnsupportedError as error: print(error)"
    )
    assert printed("-c", script).startswith(
        f"{package} is not installed; it comes with the extra `workloads`: pip install"
    )
