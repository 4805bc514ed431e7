"""Q-learning as Ray actors: rollout workers and the replay buffer; the driver is the learner.

Style "paper": the network's state_dict inline in every call; transitions as lists of tuples, observations in
them small tensors, pass through the driver. Style "tuned": parameters and transitions as contiguous arrays,
and the driver hands references to the replay buffer without fetching what is behind them. The parameters are
776 bytes: a `ray.put`, which Ray advises from 100 KiB, would cost more than it saves.
"""

from typing import Any

import numpy as np
import ray
import torch

from workloads.perceptron import Vector
from workloads.probe import Probe
from workloads.q_learning.learner import Learner
from workloads.q_learning.task import Task
from workloads.q_learning.transition import Exchange, TensorTransition, Transition, Transitions
from workloads.ray_session import session


class Rollout:
    """A rollout worker."""

    def __init__(self, task: Task, index: int) -> None:
        self.worker = task.make_rollout_worker(index)

    def roll(self, parameters: Vector) -> Transitions:
        """Play with the new parameters."""
        return self.worker.roll(parameters)

    def roll_tensors(self, state: dict[str, torch.Tensor]) -> list[TensorTransition]:
        """Play with the new parameters, in the paper's representation."""
        self.worker.network.load_state_dict(state)
        return [_with_tensors(transition) for transition in self.worker.collect()]


class Replay:
    """The replay buffer."""

    def __init__(self, task: Task) -> None:
        self.buffer = task.make_replay_buffer()

    def exchange(self, *trajectories: Transitions) -> Exchange:
        """Append what all workers produced and draw a minibatch."""
        return self.buffer.exchange(trajectories)


class TensorReplay:
    """The replay buffer in the paper's representation: single transitions by slot."""

    def __init__(self, task: Task) -> None:
        self.ring = task.make_ring()
        self.slots: dict[int, TensorTransition] = {}

    def exchange(self, trajectories: list[list[TensorTransition]]) -> list[TensorTransition]:
        """Append what all workers produced and draw a minibatch."""
        transitions = [transition for trajectory in trajectories for transition in trajectory]
        transitions = transitions[-self.ring.capacity :]
        for slot, transition in zip(self.ring.place(len(transitions)), transitions, strict=True):
            self.slots[slot] = transition
        return [self.slots[slot] for slot in self.ring.draw()]


def run(task: Task, probe: Probe, *, style: str = "paper") -> None:
    """Run all rounds on actors of this machine."""
    replay_class, play = (TensorReplay, _play_paper) if style == "paper" else (Replay, _play_tuned)
    with session(style, probe) as ray_session:
        rollouts = ray_session.start(Rollout, ((task, index) for index in range(task.actors)))
        (replay,) = ray_session.start(replay_class, [(task,)])
        learner = task.make_learner()
        ray_session.await_actors()
        probe.ready()
        for _ in range(task.total_rounds):
            play(task, probe, rollouts, replay, learner)
            probe.round()
        probe.state(learner.parameters())


def _play_paper(task: Task, probe: Probe, rollouts: list[Any], replay: Any, learner: Learner) -> None:
    state = learner.network.state_dict()
    trajectories = ray.get([rollout.roll_tensors.remote(state) for rollout in rollouts])
    minibatch = ray.get(replay.exchange.remote(trajectories))
    learner.learn_tensors(minibatch)
    if probe.verifying:
        rewards = [[transition[2] for transition in trajectory] for trajectory in trajectories]
        task.record(probe.digest, np.array(rewards, dtype=np.float32))


def _play_tuned(task: Task, probe: Probe, rollouts: list[Any], replay: Any, learner: Learner) -> None:
    parameters = learner.parameters()
    trajectories = [rollout.roll.remote(parameters) for rollout in rollouts]
    minibatch, rewards = ray.get(replay.exchange.remote(*trajectories))
    learner.learn(minibatch)
    if probe.verifying:
        task.record(probe.digest, rewards)


def _with_tensors(transition: Transition) -> TensorTransition:
    observation, action, reward, following, done = transition
    return (
        torch.tensor(observation, dtype=torch.float32),
        action,
        reward,
        torch.tensor(following, dtype=torch.float32),
        done,
    )
