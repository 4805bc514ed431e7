"""A modal reactor for the tests of modes, which switches as a script says."""

from typing import Any

from reactorlib import MSEC, Mode, Reactor, Timer, history, reaction, reset

Script = dict[int, str]  # tick number, counted from 0 -> mode to enter


class Modal(Reactor):
    """Two modes; switches every 10 ms by reset or by history, as the script says."""

    one, two = Mode(initial=True), Mode()
    go = Timer(offset=10 * MSEC, period=10 * MSEC)

    def __init__(self, script: Script):
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


def entering(trigger: Any, transition: Any) -> Any:
    """A reaction that switches to a mode."""
    return reaction(trigger, effects=transition)(lambda self, trigger, mode: mode.set())
