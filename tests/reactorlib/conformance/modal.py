"""Modal reactors for the tests of modes: one whose script says when it switches, and what it noted in local time."""

from typing import Any

from reactorlib import MSEC, Mode, Reactor, Timer, history, reaction, reset
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.observing import reactions, written

Script = dict[int, str]  # tick number, counted from 0 -> mode to enter


class Modal(Reactor):
    """Two modes; switches every 10 ms by reset or by history, as the script says."""

    one = Mode(initial=True)
    two = Mode()
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


def story(result: Any, *names: str) -> str:
    """What reactions with these names ran when, such as "4 in_one, 10+1 in_two": the time in ms and the microstep."""
    steps = [(at, microstep, path.rpartition(".")[2]) for at, microstep, path in reactions(result)]
    return ", ".join(
        f"{at / MSEC:g}{f'+{microstep}' if microstep else ''} {name}" for at, microstep, name in steps if name in names
    )


def arrived(result: Any, port: str) -> list[tuple[float, Any]]:
    """What a port reported: the time in ms and the value. All of it at microstep 0."""
    assert {microstep for _, microstep, _ in written(result, port)} <= {0}
    return [(at / MSEC, value) for at, _, value in written(result, port)]


class Switch(Reactor):
    one = Mode(initial=True)
    two = Mode()
    tick = Timer(offset=0, period=5 * MSEC)

    with one:

        @reaction(tick, effects=reset(two))
        def before(self, tick, two):
            two.set()

        still_one = noted(tick)

    with two:
        in_two, entered = noted(tick), noted(reset)

    always = noted(tick)
