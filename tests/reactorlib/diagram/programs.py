"""Programs to draw: each shows something that a layout can get wrong."""

from __future__ import annotations

from reactorlib import (
    MSEC,
    SEC,
    Bank,
    Input,
    LogicalAction,
    Mode,
    Output,
    PhysicalAction,
    Reactor,
    Timer,
    connect,
    history,
    interleaved,
    reaction,
    reset,
    shutdown,
    startup,
)
from tests.reactorlib.conformance.reactors import noted


class Empty(Reactor): ...


class Stage(Reactor):
    inp, out = Input(), Output()
    step = noted(inp, effects=out)


class Source(Reactor):
    out = Output()
    many = Output(width=3)
    tick = Timer(period=10 * MSEC)
    go = noted(tick, effects=[out, many])


class Worker(Reactor):
    request, reply = Input(), Output()
    serve = noted(request, effects=reply)


class Hub(Reactor):
    replies = Input(width="n")
    request = Output()

    def __init__(self, n): ...

    begin = noted(startup, effects=request)
    gather = noted(replies, effects=request)


class HubAndWorkers(Reactor):
    def __init__(self, n=4):
        self.hub = Hub(n)
        self.workers = Bank(Worker, n)
        connect(self.hub.request, self.workers.request, after=0)
        connect(self.workers.reply, self.hub.replies)


class Nested(Reactor):
    def __init__(self):
        self.groups = Bank(HubAndWorkers, 3)


class Middle(Reactor):
    a = Input()
    b = Input(width=3)
    out, raw = Output(), Output()

    def __init__(self):
        self.first, self.second = Stage(), Stage()
        connect(self.a, self.first.inp)
        connect(self.first.out, self.second.inp)
        connect(self.second.out, self.out)
        connect(self.a, self.raw)

    watch = noted(b)


class Sink(Reactor):
    i, j = Input(), Input()
    show = noted(i, uses=j)


class Hierarchy(Reactor):
    def __init__(self):
        self.source, self.middle, self.sink = Source(), Middle(), Sink()
        connect(self.source.out, self.middle.a)
        connect(self.source.many, self.middle.b)
        connect(self.middle.out, self.sink.i, after=5 * MSEC)
        connect(self.middle.raw, self.sink.j)


class Busy(Reactor):
    request = Input()
    reply = Output(width=2)
    tick = Timer(offset=5 * MSEC, period=10 * MSEC)
    once = Timer(offset=1 * SEC)
    again = LogicalAction(min_delay=5 * MSEC, min_spacing=2 * MSEC, policy="drop")
    outside = PhysicalAction(min_delay=1 * MSEC)

    def __init__(self):
        self.stage = Stage()

    begin = noted(startup, effects=outside)
    beat = noted(tick, once, effects=[again, "stage.inp"])
    serve = noted(again, "stage.out", uses=request, effects=[reply, again], deadline=10 * MSEC)
    hear = noted(outside, request, effects=reply)
    end = noted(shutdown)


class ActionsAndTimers(Reactor):
    def __init__(self):
        self.busy = Busy()


class Thermostat(Reactor):
    temperature, heat = Input(), Output()
    idle = Mode(initial=True)
    heating = Mode()
    tick = Timer(period=1 * SEC)

    def __init__(self):
        with self.heating:
            self.filter = Stage()
            connect(self.temperature, self.filter.inp, after=1 * MSEC)
            connect(self.filter.out, self.heat)

    log = noted(tick)

    with idle:
        check = noted(temperature, effects=reset(heating))

    with heating:
        pulse = Timer(period=100 * MSEC)
        burn = noted(pulse, uses=temperature)
        enough = noted(temperature, effects=[history(idle), history(heating)])
        clear = noted(reset)


class Modal(Reactor):
    def __init__(self):
        self.source, self.thermostat, self.sink = Source(), Thermostat(), Stage()
        connect(self.source.out, self.thermostat.temperature)
        connect(self.thermostat.heat, self.sink.inp)


class Node(Reactor):
    inp = Input(width="n")
    out = Output(width="n")

    def __init__(self, n): ...

    speak = noted(startup, effects=out)
    hear = noted(inp)


class AllToAll(Reactor):
    def __init__(self, n=4):
        self.nodes = Bank(Node, n, n)
        connect(interleaved(self.nodes.out), self.nodes.inp)


class AllToOthers(Reactor):
    def __init__(self, n=4):
        self.nodes = Bank(Node, n, n - 1)
        for i in range(n):
            others = [self.nodes[j].out[(i - j - 1) % n] for j in range(n) if j != i]
            connect(others, self.nodes[i].inp)


class BankToBank(Reactor):
    def __init__(self, n=4):
        self.left, self.right = Bank(Node, n, n), Bank(Node, n, n)
        connect(interleaved(self.left.out), self.right.inp)


class Ring(Reactor):
    def __init__(self, n=5):
        self.stages = Bank(Stage, n)
        for i in range(n):
            connect(self.stages[i].out, self.stages[(i + 1) % n].inp, after=0 if i == n - 1 else None)


class Physical(Reactor):
    def __init__(self):
        self.source, self.one, self.two = Source(), Stage(), Stage()
        connect(self.source.out, self.one.inp, physical=True)
        connect(self.one.out, self.two.inp, physical=True, after=5 * MSEC)


class Parent(Reactor):
    tick = Timer(period=5 * MSEC)

    def __init__(self):
        self.children = Bank(Stage, 3)

    drive = noted(tick, effects="children.inp")
    hear = noted("children.out")


class Tangle(Reactor):
    """Connections in all directions, between reactors with two ports on each side."""

    def __init__(self):
        self.a, self.b, self.c = ([Pair() for _ in range(3)] for _ in range(3))
        for i in range(3):
            connect(self.a[i].o, self.b[(i + 1) % 3].i)
            connect(self.a[i].p, self.c[(i + 2) % 3].j)
            connect(self.b[i].o, self.c[(i * 2) % 3].i)
            connect(self.b[i].p, self.a[(i + 1) % 3].j, after=2 * MSEC)
            connect(self.c[i].o, self.a[i].i, after=0)


class Pair(Reactor):
    i, j = Input(), Input()
    o, p = Output(), Output()
    first = noted(i, effects=o)
    second = noted(j, effects=p)


class LongNames(Reactor):
    an_input_with_a_name_of_some_length = Input()
    an_output_that_is_hardly_any_shorter = Output(width=12)
    once_in_a_while_when_nothing_else_happens = Timer(offset=123456789 * MSEC, period=1234567 * MSEC)

    @reaction(
        an_input_with_a_name_of_some_length,
        once_in_a_while_when_nothing_else_happens,
        effects=an_output_that_is_hardly_any_shorter,
        deadline=1234567 * MSEC,
    )
    def a_reaction_that_says_precisely_what_it_is_there_for(self, one, two, three): ...


class Wordy(Reactor):
    def __init__(self):
        self.a_reactor_with_a_name_of_some_length = LongNames()


class DirectCycle(Reactor):
    def __init__(self):
        self.one, self.two, self.after = Stage(), Stage(), Stage()
        self.apart = Source()
        connect(self.one.out, self.two.inp)
        connect(self.two.out, self.one.inp)
        connect(self.two.out, self.after.inp)


class Server(Reactor):
    inp, out = Input(), Output()
    first = noted(inp)
    second = noted(startup, effects=out)


class CycleByOrder(Reactor):
    """The cycle passes from one reaction of the server to the next."""

    def __init__(self):
        self.server, self.client = Server(), Stage()
        connect(self.server.out, self.client.inp)
        connect(self.client.out, self.server.inp)


class Passage(Reactor):
    inp, out = Input(), Output()

    def __init__(self):
        connect(self.inp, self.out)


class RingOfPorts(Reactor):
    def __init__(self):
        self.one, self.two = Passage(), Passage()
        connect(self.one.out, self.two.inp)
        connect(self.two.out, self.one.inp)


PROGRAMS = {
    cls.__name__: cls
    for cls in (
        Empty, HubAndWorkers, Nested, Hierarchy, ActionsAndTimers, Modal, AllToAll,
        AllToOthers, BankToBank, Ring, Physical, Parent, Tangle, Wordy, DirectCycle, CycleByOrder, RingOfPorts,
    )
}  # fmt: skip
FAULTY = {"DirectCycle", "CycleByOrder", "RingOfPorts"}
