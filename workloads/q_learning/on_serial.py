"""Q-learning as a plain loop."""

from workloads.probe import Probe
from workloads.q_learning.task import Task


def run(task: Task, probe: Probe) -> None:
    """Run all rounds in this thread."""
    rollouts = [task.make_rollout_worker(index) for index in range(task.actors)]
    replay = task.make_replay_buffer()
    learner = task.make_learner()
    probe.ready()
    for _ in range(task.total_rounds):
        parameters = learner.parameters()
        trajectories = [rollout.roll(parameters) for rollout in rollouts]
        minibatch, rewards = replay.exchange(trajectories)
        learner.learn(minibatch)
        if probe.verifying:
            task.record(probe.digest, rewards, learner)
        probe.round()
    probe.state(learner.final_state())
