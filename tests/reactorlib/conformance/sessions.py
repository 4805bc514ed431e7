"""Programs that the tests of sessions drive."""

import signal
from collections.abc import Callable

from reactorlib import SEC, Bank, Input, Output, Reactor, Session, connect, reaction, shutdown
from tests.reactorlib.conformance.reactors import noted

Opened = Callable[..., Session]
FAR = 10**9 * SEC
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Doubler(Reactor):
    inp, out = Input[int](), Output[int]()
    end = noted(shutdown)

    @reaction(inp, effects=out)
    def double(self, inp, out) -> None:
        if inp.value == "fail":
            raise ValueError("as asked")
        if inp.value >= 0:
            out.set(2 * inp.value + self.bank_index)


class Farm(Reactor):
    """Two doublers that hear the same, and two that hear on a channel of their own."""

    every, own, sums = Input[int](), Input[int](width=2), Output[int](width=2)
    last, echo = Output[int](), Output[int]()

    def __init__(self) -> None:
        self.doublers = Bank(Doubler, 2)
        self.owned = Bank(Doubler, 2)
        connect(self.every, self.doublers.inp)
        connect(self.own, self.owned.inp)
        connect(self.doublers.out, self.sums)
        connect(self.every, self.echo)

    @reaction(every, uses="owned.out", effects=last)
    def gather(self, every, out, last) -> None:
        last.set([channel.value if channel.is_present else None for channel in out])


def acting(act: Callable[[], object], ended: list[int] | None = None) -> type[Reactor]:
    """A program that calls this function whenever its input is set, and notes that it is shut down."""

    class Acting(Reactor):
        inp = Input[int]()

        @reaction(inp)
        def act(self, inp) -> None:
            act()

        @reaction(shutdown)
        def end(self) -> None:
            if ended is not None:
                ended.append(1)

    return Acting
