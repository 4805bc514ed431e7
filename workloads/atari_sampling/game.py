"""The settings that define a game, for backends that make the emulator without Gymnasium."""

from dataclasses import dataclass

import gymnasium

from workloads.atari_sampling.task import Task
from workloads.parameter import UnsupportedError


@dataclass(frozen=True)
class Game:
    """A game as Gymnasium makes it by default. `height`, `width`: of the frame, in pixels."""

    rom: str
    repeat_action_probability: float
    full_action_space: bool
    episode_frames: int
    height: int
    width: int


def game_of(task: Task) -> Game:
    """The game that a task plays; raises UnsupportedError for one with options in its name ("PongNoFrameskip-v4")."""
    if task.environment_id != f"ALE/{task.scenario}-v5":
        raise UnsupportedError(f"only games by their short name are made alike, {task.env} is none")
    options = gymnasium.spec(task.environment_id).kwargs
    environment = task.make_environment()
    height, width, _ = environment.observation_space.shape or ()
    environment.close()
    return Game(
        rom=options["game"],
        repeat_action_probability=options["repeat_action_probability"],
        full_action_space=options["full_action_space"],
        episode_frames=options["max_num_frames_per_episode"],
        height=height,
        width=width,
    )
