"""Programs that `overhead` has no shape for: large ones, which are asked once, and tags that a meter counts."""

from benchmarks.meter import Meter, MeteredProbe
from reactorlib import (
    HOUR,
    MSEC,
    USEC,
    Bank,
    Input,
    LogicalAction,
    Mode,
    Output,
    Reactor,
    Timer,
    connect,
    reaction,
    request_stop,
    reset,
    startup,
)
from workloads.overhead.on_reactors import Member


class ActionLoop(Reactor):
    """A tag is one event of a logical action, which schedules the next: 1 reaction."""

    again = LogicalAction[int](min_delay="delay")

    def __init__(self, meter: Meter, delay: int) -> None:
        self.probe = MeteredProbe(meter)

    @reaction(startup, again, effects=again)
    def step(self, again: LogicalAction[int]) -> None:
        self.probe.round()
        again.schedule(value=0)


class Echo(Reactor):
    """Passes a value on."""

    taken, passed = Input[int](), Output[int]()

    @reaction(taken, effects=passed)
    def pass_on(self, taken: Input[int], passed: Output[int]) -> None:
        passed.set(taken.value)


class Quiet(Reactor):
    """A timer whose tags the meter counts, and two banks, of `reactors` in all, that are connected and idle."""

    tick = Timer(offset=0, period=1 * USEC)

    def __init__(self, meter: Meter, reactors: int) -> None:
        self.probe = MeteredProbe(meter)
        self.sources = Bank(Member, reactors // 2)
        self.sinks = Bank(Member, reactors // 2)
        connect(self.sources.passed, self.sinks.taken)

    @reaction(tick)
    def count(self, tick: Timer) -> None:
        self.probe.round()


class Waiting(Reactor):
    """Waits for a timer of its own, far in the future."""

    tick = Timer(offset=lambda bank_index: 100_000 * HOUR + bank_index * MSEC)

    @reaction(tick)
    def end(self, tick: Timer) -> None:
        request_stop()


class QuietTimers(Quiet):
    """The same timer, and `reactors` that wait for one each."""

    def __init__(self, meter: Meter, reactors: int) -> None:
        self.probe = MeteredProbe(meter)
        self.waiting = Bank(Waiting, reactors)


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


class Asker(Reactor):
    """Asks once, and stops the program when it is answered."""

    answer = Input[int]()
    request = Output[int]()

    @reaction(startup, effects=request)
    def ask(self, request: Output[int]) -> None:
        request.set(1)

    @reaction(answer)
    def stop(self, answer: Input[int]) -> None:
        request_stop()


class Collector(Reactor):
    """Receives from every member of a bank."""

    replies = Input[int](width="width")
    reply = Output[int]()

    def __init__(self, width: int) -> None:
        pass

    @reaction(replies, effects=reply)
    def collect(self, replies: Input[int], reply: Output[int]) -> None:
        reply.set(sum(port.value for port in replies))


class Star(Reactor):
    """A bank that is asked, and one collector of its replies: `clients` + 3 reactions."""

    def __init__(self, clients: int) -> None:
        self.asker = Asker()
        self.clients = Bank(Member, clients)
        self.collector = Collector(clients)
        connect(self.asker.request, self.clients.taken)
        connect(self.clients.passed, self.collector.replies)
        connect(self.collector.reply, self.asker.answer)


class AllToAll(Reactor):
    """Two banks of `width`, every member of one connected to every member of the other: `width` ** 2 connections."""

    def __init__(self, width: int) -> None:
        self.asker = Asker()
        self.members = Bank(Member, width)
        self.collectors = Bank(Collector, width, width)
        connect(self.asker.request, self.members.taken)
        connect(self.members.passed, self.collectors.replies)
        connect(self.collectors[0].reply, self.asker.answer)


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
            self.leaf = Member()
            connect(self.request, self.leaf.taken)
            connect(self.leaf.passed, self.reply)


class Tree(Reactor):
    """A hierarchy. All leaves are asked, and one answers: `children` ** `depth` + 2 reactions."""

    def __init__(self, depth: int, children: int) -> None:
        self.asker = Asker()
        self.top = Node(depth, children)
        connect(self.asker.request, self.top.request)
        connect(self.top.reply, self.asker.answer)


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
