"""Atari sampling with the vector of environments that the Arcade Learning Environment brings: C++ and threads.

Configured to return what Gymnasium's environment does: full RGB frames, sticky actions and the same frame skip. It
takes no maximum over frames, stacks no frames and clips no rewards. The next episode begins in the step that ends
one. Its emulators take their seeds in another way.
"""

from ale_py.vector_env import AtariVectorEnv
from gymnasium.vector import AutoresetMode

from workloads.atari_sampling.game import game_of
from workloads.atari_sampling.task import Task
from workloads.probe import Probe
from workloads.vector_sampling import sample


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    game, alike = game_of(task)
    envs = AtariVectorEnv(
        game["game"],
        task.actors,
        max_num_frames_per_episode=game["max_num_frames_per_episode"],
        autoreset_mode=AutoresetMode.SAME_STEP,
        grayscale=False,
        frameskip=task.frame_skip,
        maxpool=False,
        noop_max=0,
        reward_clipping=False,
        **alike,
    )
    envs.reset(seed=task.seed)
    sample(task, probe, envs, envs.single_action_space)
