"""PPO with the environments as actors in shares, one per core; the driver is the learner."""

import pickle

from workloads.actors.members import Members
from workloads.actors.system import load
from workloads.ppo.player import Player, joined
from workloads.ppo.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe, system: str) -> None:
    """Run all rounds of the task on an actor system, reporting to the probe."""

    def largest_bytes(share: int) -> int:
        return len(pickle.dumps(Player(task, 0).begin(), protocol=5)) * share + task.actors * 8

    with load(system)(probe) as actors:
        learner = task.make_learner()
        players = Members(actors, Player, ((task, index) for index in range(task.actors)))
        players.await_actors(largest_bytes)
        learner.begin(joined(players.gather("begin")))
        probe.ready()
        for _ in range(task.total_rounds):
            for _ in range(task.steps):
                # Joined at once: the replies may lie in memory of the system's.
                learner.see(joined(players.gather("step", learner.act())))
            if probe.verifying:
                task.record(probe.digest, learner)
            learner.learn()
            probe.round()
        probe.state(learner.final_state())
