"""Atari sampling: names of games, and frames as the paper sends them."""

import numpy as np
import pytest

from workloads.atari_sampling.task import Task
from workloads.parameter import ParameterError
from workloads.sampling import Sampler


@pytest.mark.parametrize("name", ["Pong", "ALE/Pong-v5"])
def test_a_game_goes_by_its_short_name_or_its_id(name):
    task = Task(env=name)
    assert task.environment_id == "ALE/Pong-v5"
    assert task.scenario == "Pong"


def test_another_variant_of_a_game_keeps_its_id():
    assert Task(env="PongNoFrameskip-v4").scenario == "PongNoFrameskip-v4"


def test_the_games_of_the_paper_are_there():
    assert {"Pong", "MsPacman", "SpaceInvaders"} <= set(Task.environment_names())


def test_an_unknown_game_is_refused_with_the_nearest_short_names():
    with pytest.raises(ParameterError, match=r"^env: unknown 'Pnog'; did you mean Pong"):
        Task(env="Pnog")


@pytest.mark.parametrize("name", ["CartPole-v1", "Acrobot-v1"])
def test_what_is_no_game_is_refused(name):
    with pytest.raises(ParameterError, match=rf"^env: {name} is no Atari game; expected one such as Pong"):
        Task(env=name)


def test_a_reply_carries_a_full_frame_of_its_own():
    sampler = Sampler(Task(), 0)
    first, *_ = sampler.step_message(0)
    kept = first.copy()
    second, *_ = sampler.step_message(1)
    assert first.shape == second.shape == (210, 160, 3)
    assert first.dtype == np.uint8
    assert np.array_equal(first, kept)


def test_the_emulator_prints_nothing(capfd):
    Sampler(Task(), 0)
    assert capfd.readouterr() == ("", "")
