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
    game = game_of(task)
    options = {
        "frame_skip": task.frame_skip,
        "max_episode_steps": game.episode_frames // task.frame_skip,
        "repeat_action_probability": game.repeat_action_probability,
        "full_action_space": game.full_action_space,
        "gray_scale": False,
        "img_height": game.height,
        "img_width": game.width,
        "stack_num": 1,
        "noop_max": 1,
        "use_fire_reset": False,
    }
    run_pool(task, probe, f"{task.scenario}-v5", options)
