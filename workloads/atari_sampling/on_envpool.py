"""Atari sampling with EnvPool: its own environment and threads around the emulator.

Configured to return what Gymnasium's environment does: full RGB frames, sticky actions, the same frame skip, no frame
stack, no clipped rewards. It still takes the maximum of two frames, and its colours come before rows and columns.
"""

from workloads.atari_sampling.game import game_of
from workloads.atari_sampling.task import Task
from workloads.gym_sampling.on_envpool import run_pool
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    game, alike = game_of(task)
    options = {
        "frame_skip": task.frame_skip,
        "max_episode_steps": game["max_num_frames_per_episode"] // task.frame_skip,
        "gray_scale": False,
        "noop_max": 1,
        **alike,
    }
    run_pool(task, probe, f"{task.scenario}-v5", options)
