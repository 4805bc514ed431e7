"""Shared parts of the shapes on xronos: the reactor that most of them are made of."""

import datetime as dt
from collections.abc import Callable

import xronos

Handler = Callable[[], None]

NEXT_MICROSTEP = dt.timedelta(0)


class Member(xronos.Reactor):
    """Adds its own step to the value it receives."""

    taken = xronos.InputPortDeclaration[int]()
    passed = xronos.OutputPortDeclaration[int]()

    def __init__(self, index: int) -> None:
        super().__init__()
        self.step = index + 1

    @xronos.reaction
    def take(self, context: xronos.ReactionContext) -> Handler:
        """Pass the value on."""
        taken = context.add_trigger(self.taken)
        passed = context.add_effect(self.passed)
        return lambda: passed.set(taken.get() + self.step)
