"""A vector environment for libraries with interfaces of their own: infos in a list, and steps of some environments."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from reactorlib.gymnasium.infos import Info
from reactorlib.gymnasium.vector_env import ReactorVectorEnv


class ListedInfos(ReactorVectorEnv):
    """Returns infos as they came, one environment after the other."""

    def _infos(self, results: list[list[Info]]) -> Any:
        return [info for infos in results for info in infos]

    def step_some(self, actions: dict[int, Any]) -> Any:
        """Step the environments that have an action. The rows of all others mean nothing."""
        self._assert_is_running()
        self._assert_nothing_pends("step")
        groups = self._groups
        groups.turn()
        shares = [range(low, high) for low, high in pairwise(groups._bounds)]
        parts = [{row - share[0]: actions[row] for row in share if row in actions} for share in shares]
        groups.begin("step", [(part, groups.buffer) for part in parts])
        return self._stepped(groups.finish())
