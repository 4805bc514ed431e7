"""Modal reactors for the tests of modes: one whose script says when it switches, and what it noted in local time."""

from typing import Any

from reactorlib import (
    MSEC,
    Mode,
    Reactor,
    Timer,
    history,
    reaction,
    reset,
)
from tests.reactorlib.observing import reactions

Script = dict[int, str]  # tick number, counted from 0 -> mode to enter


class Modal(Reactor):
    """Two modes with a timer each; switches by reset or by history, as the script says."""

    one = Mode(initial=True)
    two = Mode()
    go = Timer(offset="begin", period=10 * MSEC)

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        self.script = script
        self.now = -1

    @reaction(go, effects=[reset(one), reset(two)])
    def by_reset(self, go, one, two):
        self.now += 1
        target = self.script.get(self.now)
        if target == "reset one":
            one.set()
        elif target == "reset two":
            two.set()

    @reaction(go, effects=[history(one), history(two)])
    def by_history(self, go, one, two):
        target = self.script.get(self.now)
        if target == "history one":
            one.set()
        elif target == "history two":
            two.set()


def local(result: Any, *names: str) -> list[tuple[float, int, str]]:
    """(time in ms, microstep, reaction) of the reactions with these names."""
    steps = [(at / MSEC, microstep, path.rpartition(".")[2]) for at, microstep, path in reactions(result)]
    return [step for step in steps if step[-1] in names]


class Switch(Reactor):
    one = Mode(initial=True)
    two = Mode()
    tick = Timer(offset=0, period=5 * MSEC)

    with one:

        @reaction(tick, effects=reset(two))
        def before(self, tick, two):
            two.set()

        @reaction(tick)
        def still_one(self, tick): ...

    with two:

        @reaction(tick)
        def in_two(self, tick): ...

        @reaction(reset)
        def entered(self): ...

    @reaction(tick)
    def always(self, tick): ...
