"""The settings that define a game, for backends that make the emulator without Gymnasium."""

from typing import Any

import gymnasium

from workloads.atari_sampling.task import Task
from workloads.parameter import UnsupportedError


def game_of(task: Task) -> tuple[dict[str, Any], dict[str, Any]]:
    """How Gymnasium makes a task's game, and those of these settings that other vectors call alike.

    Raises UnsupportedError for a game with options in its name ("PongNoFrameskip-v4").
    """
    if task.environment_id != f"ALE/{task.scenario}-v5":
        raise UnsupportedError(f"only games by their short name are made alike, {task.env} is none")
    environment = task.make_environment()
    height, width, _ = environment.observation_space.shape or ()
    environment.close()
    made = gymnasium.spec(task.environment_id).kwargs
    alike = {name: made[name] for name in ("repeat_action_probability", "full_action_space")}
    return made, alike | {"img_height": height, "img_width": width, "stack_num": 1, "use_fire_reset": False}
