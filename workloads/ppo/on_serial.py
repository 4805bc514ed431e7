"""PPO as a plain loop over the environments."""

from workloads.ppo.player import Player, joined
from workloads.ppo.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds in this thread."""
    learner = task.make_learner()
    players = [Player(task, index) for index in range(task.actors)]
    learner.begin(joined([player.begin() for player in players]))
    probe.ready()
    for _ in range(task.total_rounds):
        for _ in range(task.steps):
            actions = learner.act()
            learner.see(joined([player.step(actions) for player in players]))
        if probe.verifying:
            task.record(probe.digest, learner)
        learner.learn()
        probe.round()
    probe.state(learner.final_state())
