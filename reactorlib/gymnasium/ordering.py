"""From the arguments of a pool to the order of its batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from reactorlib.gymnasium.order import Arrival, LogicalOrder, checked_durations
from reactorlib.gymnasium.record import PoolRecorder, PoolReplayer, StrPath


class Ordering(NamedTuple):
    """The arguments of a ReactorPool that say what its batches are."""

    order: str
    durations: Sequence[int] | None
    record: StrPath | None
    replay: StrPath | None

    def check(self) -> None:
        """Raise ValueError for arguments that contradict each other."""
        if self.order not in ("arrival", "logical"):
            raise ValueError(f"`order` must be 'arrival' or 'logical', got {self.order!r}")
        if self.durations is not None and self.order != "logical":
            raise ValueError("`durations` are for order='logical'")
        if self.replay is not None and (self.order != "arrival" or self.record is not None):
            raise ValueError("`replay` decides the order itself, and records nothing: neither `order` nor `record`")

    def made_for(self, pool: Any, env_fns: Sequence[Callable[[], Any]]) -> Arrival:
        """The order of a pool, whose environments exist."""
        mode, space = pool.metadata["autoreset_mode"].value, pool.observation_space
        if self.replay is not None:
            return PoolReplayer(self.replay, pool.num_envs, mode, space)
        order = Arrival()
        if self.order == "logical":
            durations = self.durations
            if durations is None:
                durations = [one for member in pool._members for one in member.envs.apply(_declared)]
            order = LogicalOrder(checked_durations(durations, pool.num_envs))
        return order if self.record is None else PoolRecorder(self.record, order, env_fns, mode, space)


def _declared(env: Any) -> Any:
    return env.get_wrapper_attr("duration") if env.has_wrapper_attr("duration") else None
