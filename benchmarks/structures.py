"""Large programs: what elaboration, start-up and a tag cost where there are very many reactors."""

from __future__ import annotations

from benchmarks.meter import Meter
from benchmarks.shapes import Client, MeteredTicker, Ping, Ticker
from reactorlib import (
    HOUR,
    MSEC,
    USEC,
    Bank,
    Input,
    Mode,
    Output,
    Reactor,
    Timer,
    connect,
    interleaved,
    reaction,
    reset,
)


class Quiet(Reactor):
    """Two banks of reactors, `reactors` in all, that are connected and idle; one timer fires, a tag each time."""

    def __init__(self, meter: Meter, reactors: int) -> None:
        self.metered = MeteredTicker(meter, 0, 1 * MSEC)
        half = reactors // 2
        self.sources = Bank(Client, half)
        self.sinks = Bank(Client, half)
        connect(self.sources.reply, self.sinks.request)


class QuietTimers(Reactor):
    """Reactors that each wait for a timer of their own, far in the future; one timer fires, a tag each time."""

    def __init__(self, meter: Meter, reactors: int) -> None:
        self.metered = MeteredTicker(meter, 0, 1 * USEC)
        self.waiting = Bank(Ticker, reactors, 1 * HOUR, 1 * MSEC, 100_000 * HOUR)


class Switcher(Reactor):
    """Switches its mode at each tag."""

    tick = Timer(offset=1 * USEC, period=1 * USEC)
    one, two = Mode(initial=True), Mode()

    with one:

        @reaction(tick, effects=reset(two))
        def there(self, tick: Timer, two: Mode) -> None:
            two.set()

    with two:

        @reaction(tick, effects=reset(one))
        def back(self, tick: Timer, one: Mode) -> None:
            one.set()


class QuietSwitches(QuietTimers):
    """The same, and a reactor that switches its mode at each tag."""

    def __init__(self, meter: Meter, reactors: int) -> None:
        super().__init__(meter, reactors)
        self.switcher = Switcher()


class Timers(Reactor):
    """Independent timers: every tag belongs to one of them, each of which fires once per round of `timers` tags."""

    def __init__(self, meter: Meter, timers: int) -> None:
        self.metered = MeteredTicker(meter, 0, timers * USEC)  # counts rounds, not tags
        if timers > 1:
            self.others = Bank(Ticker, timers - 1, timers * USEC, 1 * USEC, 1 * USEC)


class Node(Reactor):
    """A node of a tree. A leaf answers. Any other node passes the request down, and the answer of one child up."""

    request = Input[int]()
    reply = Output[int]()

    def __init__(self, depth: int, children: int) -> None:
        if depth:
            self.nodes = Bank(Node, children, depth - 1, children)
            connect(self.request, self.nodes.request)
            connect(self.nodes[0].reply, self.reply)
        else:
            self.leaf = Client()
            connect(self.request, self.leaf.request)
            connect(self.leaf.reply, self.reply)


class Tree(Reactor):
    """A hierarchy. A tag is a request to all leaves, and one answer. It has `children` ** `depth` + 1 reactions."""

    def __init__(self, meter: Meter, depth: int, children: int) -> None:
        self.ping = Ping(meter)
        self.top = Node(depth, children)
        connect(self.ping.ball, self.top.request)
        connect(self.top.reply, self.ping.back, after=0)


class Spreader(Reactor):
    """Sends what it receives to every member of the other bank."""

    request = Input[int]()
    out = Output[int](width="width")

    def __init__(self, width: int) -> None:
        pass

    @reaction(request, effects=out)
    def spread(self, request: Input[int], out: Output[int]) -> None:
        for port in out:
            port.set(request.value)


class Collector(Reactor):
    """Receives from every member of the other bank."""

    inp = Input[int](width="width")
    reply = Output[int]()

    def __init__(self, width: int) -> None:
        pass

    @reaction(inp, effects=reply)
    def collect(self, inp: Input[int], reply: Output[int]) -> None:
        reply.set(sum(port.value for port in inp))


class AllToAll(Reactor):
    """Two banks of `width`, every member of one connected to every member of the other: `width` ** 2 connections."""

    def __init__(self, meter: Meter, width: int) -> None:
        self.ping = Ping(meter)
        self.spreaders = Bank(Spreader, width, width)
        self.collectors = Bank(Collector, width, width)
        connect(self.ping.ball, self.spreaders.request)
        connect(interleaved(self.spreaders.out), self.collectors.inp)
        connect(self.collectors[0].reply, self.ping.back, after=0)


# In Lingua Franca: a reactor with something of everything.
STAGE = """
reactor Stage{number}(width: int = 2, period: time = 10 ms) {{
  preamble {{=
    def scaled(self, value):
      return value * self.width
  =}}
  input[width] inp: int
  output[width] out: int
  timer t(1 ms, period)
  logical action again(1 ms): int
  state total: int = 0
  state seen: list = []
  reaction(inp) -> out, again {{=
    for port, other in zip(inp, out):
      if port.is_present:
        self.total += port.value
        other.set(self.scaled(port.value))
    again.schedule(0, self.total)
  =}}
  reaction(again) {{=
    self.seen.append(again.value)
  =}} deadline(1 sec) {{=
    self.total = 0
  =}}
}}
"""


def lingua_franca(lines: int) -> str:
    """A program of about so many lines of Lingua Franca: a chain of reactors, each of its own class."""
    stages = max(2, lines // (STAGE.count("\n") + 2))
    classes = "".join(STAGE.format(number=number) for number in range(stages))
    made = "".join(f"  s{number} = new Stage{number}(width = 3)\n" for number in range(stages))
    connected = "".join(f"  s{number}.out -> s{number + 1}.inp\n" for number in range(stages - 1))
    return f"target Python\n{classes}\nmain reactor {{\n{made}{connected}}}\n"
