"""A vector environment for other rooms and libraries: infos in a list, steps of some environments, and its groups."""

from __future__ import annotations

from typing import Any

from reactorlib.gymnasium.vector.groups import Groups
from reactorlib.gymnasium.vector.infos import Info
from reactorlib.gymnasium.vector.vector_env import ReactorVectorEnv


class ListedVectorEnv(ReactorVectorEnv):
    """Returns infos as they came, one environment after the other."""

    @property
    def groups(self) -> Groups:
        """The groups of its environments."""
        return self._groups

    def _infos(self, results: list[list[Info]]) -> Any:
        return [info for infos in results for info in infos]

    def reset_each(self, seeds: list[Any], options: list[Any], mask: list[bool] | None = None) -> tuple[Any, Any]:
        """Reset the environments, those of the mask if there is one, each with its seed and options."""
        self._assert_is_running()
        self._begin_reset(seeds, options, mask)
        return self.reset_wait()

    def step_some(self, actions: dict[int, Any]) -> Any:
        """Step the environments that have an action. The rows of all others mean nothing."""
        self._assert_may("step")
        groups = self._groups
        groups.turn()
        shares = groups.shared_out(range(self.num_envs))
        parts = [{row - share[0]: actions[row] for row in share if row in actions} for share in shares]
        groups.begin("step", [(part, groups.buffer) for part in parts])
        return self._stepped(groups.finish())
