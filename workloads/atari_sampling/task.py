"""Atari sampling: the games of the Arcade Learning Environment, by short name ("Pong") or by Gymnasium id."""

from dataclasses import dataclass
from typing import Any

import ale_py
import gymnasium

from workloads.parameter import ParameterError, parameter
from workloads.sampling import SamplingTask

_PREFIX, _SUFFIX = "ALE/", "-v5"

gymnasium.register_envs(ale_py)


@dataclass(frozen=True)
class Task(SamplingTask):
    """The parameters of atari_sampling; the defaults are the paper's."""

    env: str = parameter("Pong", "Atari game, such as Pong or ALE/Pong-v5")
    frame_skip: int = parameter(4, "frames that one step takes, in each of them the same action", minimum=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        spec = gymnasium.registry.get(self.environment_id)
        if spec is None or not str(spec.entry_point).startswith(ale_py.__name__):
            raise ParameterError(f"env: {self.env} is no Atari game; expected one such as Pong or ALE/Pong-v5")
        if not self.environment_options and self.frame_skip != type(self).frame_skip:
            raise ParameterError(f"frame_skip: the name {self.env} says itself how many frames a step has")

    @property
    def scenario(self) -> str:
        """The game's short name, or the id of an environment that has none."""
        return self.env.removeprefix(_PREFIX).removesuffix(_SUFFIX)

    @property
    def environment_id(self) -> str:
        """The id that Gymnasium knows the game by: raw RGB frames, sticky actions."""
        return self.env if self.env in gymnasium.registry else f"{_PREFIX}{self.env}{_SUFFIX}"

    @property
    def environment_options(self) -> dict[str, Any]:
        """The frame skip; the names of older versions ("PongNoFrameskip-v4") say themselves which one they have."""
        return {"frameskip": self.frame_skip} if self.environment_id.startswith(_PREFIX) else {}

    @staticmethod
    def environment_names() -> list[str]:
        """The games' short names."""
        ids = [name for name in gymnasium.registry if name.startswith(_PREFIX)]
        return [name.removeprefix(_PREFIX).removesuffix(_SUFFIX) for name in ids]

    def make_environment(self) -> gymnasium.Env[Any, Any]:
        """A new game, without the emulator's banner on the console."""
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        return super().make_environment()
