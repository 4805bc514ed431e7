"""PPO with the environments in shares: the driver, which learns, steps the first, an actor each of the others."""

from workloads.ppo.player import Player, joined
from workloads.ppo.task import Task
from workloads.probe import Probe
from workloads.ray_pool import Pool
from workloads.ray_session import session


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine."""
    with session("tuned", probe) as ray_session:
        learner = task.make_learner()
        players = Pool(ray_session, Player, ((task, index) for index in range(task.actors)))
        ray_session.await_actors()
        learner.begin(joined(players.gather("begin")))
        probe.ready()
        for _ in range(task.total_rounds):
            for _ in range(task.steps):
                learner.see(joined(players.gather("step", learner.act())))
            learner.learn()
            if probe.verifying:
                task.record(probe.digest, learner)
            probe.round()
        probe.state(learner.final_state())
