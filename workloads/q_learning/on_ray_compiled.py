"""Q-learning as Ray actors in one compiled graph: parameters -> rollout workers -> replay buffer -> minibatch."""

from typing import Any

import ray

from workloads.probe import Probe
from workloads.q_learning.learner import Learner
from workloads.q_learning.on_ray import Replay, Rollout
from workloads.q_learning.task import Task
from workloads.q_learning.transition import TRANSITION
from workloads.ray_graph import Execute, compile_graph
from workloads.ray_session import session


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine; the driver is the learner."""
    # An actor reserves no CPU, so that any number of them starts on any machine; they share its cores.
    rollout_actor, replay_actor = (ray.remote(part).options(num_cpus=0) for part in (Rollout, Replay))
    with session("compiled", probe) as ray_session:
        rollouts = ray_session.keep(rollout_actor.remote(task, index) for index in range(task.actors))
        (replay,) = ray_session.keep([replay_actor.remote(task)])
        learner = task.make_learner()
        ray.get([actor.ready.remote() for actor in [*rollouts, replay]])

        def build(parameters: Any) -> Any:
            return replay.exchange.bind(*(rollout.roll.bind(parameters) for rollout in rollouts))

        execute = compile_graph(ray_session, build, _message_bytes(task, learner))
        probe.ready()
        for _ in range(task.total_rounds):
            _play(task, probe, execute, learner)
            probe.round()
        probe.state(learner.parameters())


def _play(task: Task, probe: Probe, execute: Execute, learner: Learner) -> None:
    # What comes out lies in the graph's buffer, and is gone when this function returns.
    minibatch, rewards = ray.get(execute(learner.parameters()))
    learner.learn(minibatch)
    if probe.verifying:
        task.record(probe.digest, rewards)


def _message_bytes(task: Task, learner: Learner) -> int:
    """The largest of parameters, trajectory, and minibatch with the rewards of all workers."""
    trajectory = task.steps * TRANSITION.itemsize
    exchange = task.minibatch * TRANSITION.itemsize + task.actors * task.steps * 4
    return max(learner.parameters().nbytes, trajectory, exchange)
