"""For the tests of modes: a modal reactor that switches as a script says, and one that sends at shutdown."""

from typing import Any

from reactorlib import MSEC, Mode, Output, Reactor, Timer, history, reaction, reset, shutdown

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


class Parting(Reactor):
    """Sends a value at shutdown."""

    out = Output[Any]()

    def __init__(self, value: Any):
        self.value = value

    @reaction(shutdown, effects=out)
    def end(self, out):
        out.set(self.value)


def entering(trigger: Any, transition: Any) -> Any:
    """A reaction that switches to a mode."""
    return reaction(trigger, effects=transition)(lambda self, trigger, mode: mode.set())
