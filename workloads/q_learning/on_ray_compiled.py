"""Q-learning as Ray actors in one compiled graph: parameters -> rollout workers -> replay buffer -> minibatch."""

import pickle
from typing import Any

import ray

from workloads.columns import unpacked
from workloads.probe import Probe
from workloads.q_learning.learner import Learner
from workloads.q_learning.ray_actors import PackingReplay, PackingRollout
from workloads.q_learning.task import Task
from workloads.ray_graph import Execute, compile_graph
from workloads.ray_session import session


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine; the driver is the learner."""
    with session("compiled", probe) as ray_session:
        rollouts = ray_session.start(PackingRollout, ((task, index) for index in range(task.actors)))
        (replay,) = ray_session.start(PackingReplay, [(task,)])
        learner = task.make_learner()
        ray_session.await_actors()

        def build(parameters: Any) -> Any:
            return replay.exchange.bind(*(rollout.roll.bind(parameters) for rollout in rollouts))

        with ray_session.free_of_charge():
            message_bytes = _message_bytes(task, learner)
        execute = compile_graph(ray_session, build, message_bytes)
        probe.ready()
        for _ in range(task.total_rounds):
            _play(task, probe, execute, learner)
            probe.round()
        probe.state(learner.final_state())


def _play(task: Task, probe: Probe, execute: Execute, learner: Learner) -> None:
    # The result is in the graph's buffer, and is gone when this function returns.
    minibatch, rewards = ray.get(execute(learner.parameters()))
    learner.learn(unpacked(minibatch))
    if probe.verifying:
        task.record(probe.digest, rewards, learner)


def _message_bytes(task: Task, learner: Learner) -> int:
    """The largest of parameters, trajectory, and minibatch with the rewards of all workers, as pickled."""
    parameters = learner.parameters()
    trajectory = len(pickle.dumps(task.make_rollout_worker(0).roll(parameters), protocol=5))
    exchange = trajectory * task.minibatch // task.steps + task.actors * task.steps * 4
    return max(len(pickle.dumps(parameters, protocol=5)), trajectory, exchange)
