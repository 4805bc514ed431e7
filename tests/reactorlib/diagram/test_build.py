"""The boxes, words and edges in the diagram of a program."""

import pytest

from reactorlib import MSEC, Bank, Input, LogicalAction, Mode, Output, Reactor, Timer, connect
from reactorlib.elaboration.elaborate import examine
from reactorlib.view.diagram import diagram_of
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.diagram import programs
from tests.reactorlib.diagram.programs import FAULTY, PROGRAMS


def root(cls, **overlays):
    program, faults = examine(cls)
    return diagram_of(program, faults=faults, **overlays).root


def box(of, name):
    (found,) = [box for box in of.walk() if box.id == name]
    return found


def edges(box):
    return {(edge.kind, source, target, edge.label) for edge in box.edges for source, target in edge.pairs}


class Mixed(Reactor):
    def __init__(self):
        self.parts = [programs.Stage(), programs.Source(), programs.Stage()]


class InTurns(Reactor):
    def __init__(self):
        self.stages, self.sources = [], []
        for _ in range(2):
            self.stages.append(programs.Stage())
            self.sources.append(programs.Source())


@pytest.mark.parametrize(
    ("cls", "unfold", "titles"),
    [
        (programs.HubAndWorkers, False, ["hub", "workers[4]"]),
        (programs.HubAndWorkers, True, ["hub", *(f"workers[{i}]" for i in range(4))]),
        (programs.Nested, False, ["groups[3]", "hub", "workers[4]"]),
        (Mixed, False, ["parts[0]", "parts[1]", "parts[2]"]),
        (InTurns, False, ["stages[2]", "sources[2]"]),
    ],
)
def test_a_bank_of_equal_reactors_is_one_box_unless_unfolded(cls, unfold, titles):
    _, *inner = root(cls, unfold=unfold).walk()
    assert [each.title for each in inner] == titles
    assert len({each.id for each in inner}) == len(inner)


def test_multiports_show_their_width_and_connections_their_delay():
    hub, _ = root(programs.HubAndWorkers).boxes
    assert [port.name for port in hub.inputs + hub.outputs] == ["replies[4]", "request"]
    assert edges(root(programs.HubAndWorkers)) == {
        ("delayed", "HubAndWorkers.hub.request", "HubAndWorkers.workers.request", "after 0"),
        ("connection", "HubAndWorkers.workers.reply", "HubAndWorkers.hub.replies", ""),
    }


def test_reactions_are_numbered_in_order_with_deadline_and_level():
    busy = box(root(programs.ActionsAndTimers, levels=True), "ActionsAndTimers.busy")
    reactions = [(s.number, s.title, s.details) for s in busy.symbols if s.kind == "reaction"]
    assert [(number, title) for number, title, _ in reactions] == [
        ("1", "begin"), ("2", "beat"), ("3", "serve"), ("4", "hear"), ("5", "end"),
    ]  # fmt: skip
    assert reactions[2][2] == ("deadline 10 ms", "level 3")


def test_timers_actions_and_signals_say_when():
    busy = box(root(programs.ActionsAndTimers), "ActionsAndTimers.busy")
    assert {(s.kind, s.title, s.details) for s in busy.symbols if s.kind != "reaction"} == {
        ("timer", "tick", ("from 5 ms, every 10 ms",)),
        ("timer", "once", ("once at 1 s",)),
        ("logical action", "again", ("after 5 ms", "spacing 2 ms, drop")),
        ("physical action", "outside", ("after 1 ms",)),
        ("startup", "startup", ()),
        ("shutdown", "shutdown", ()),
    }


class Both(Reactor):
    inp = Input()
    hear = noted(inp, uses=inp)


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (Both, {("trigger", "Both.inp", "Both.hear()", "")}),
        (programs.Parent, {
            ("trigger", "Parent.tick", "Parent.drive()", ""),
            ("effect", "Parent.drive()", "Parent.children.inp", ""),
            ("trigger", "Parent.children.out", "Parent.hear()", ""),
        }),
    ],
)  # fmt: skip
def test_a_reaction_has_an_edge_for_each_element_that_it_names(cls, expected):
    assert edges(root(cls)) == expected


@pytest.mark.parametrize(
    ("cls", "labels"),
    [
        (programs.Physical, {"physical", "physical, after 5 ms"}),
        (programs.AllToAll, {"each to each"}),
        (programs.AllToOthers, {"each to every other"}),
        (programs.Ring, {"", "after 0"}),
    ],
)
def test_connections_say_how_they_join(cls, labels):
    assert {edge.label for edge in root(cls).edges} == labels


@pytest.mark.parametrize("cls", [programs.BankToBank, programs.AllToAll])
def test_what_everything_reaches_is_one_edge_when_unfolded(cls):
    (edge,) = root(cls, unfold=True).edges
    assert (len(edge.sources), len(edge.targets), edge.label) == (4, 4, "")


def test_numbers_that_differ_within_a_bank_are_said_to_differ():
    class Ticker(Reactor):
        tick = Timer(period=lambda bank_index: (1 + bank_index) * MSEC)
        act = LogicalAction(min_delay=2 * MSEC)
        out = Output(width=lambda bank_index: 1 + bank_index)
        go = noted(tick, effects=act, deadline=lambda bank_index: (1 + bank_index) * MSEC)

    class Main(Reactor):
        def __init__(self):
            self.tickers = Bank(Ticker, 2)

    (ticker,) = root(Main).boxes
    details = {symbol.title: symbol.details for symbol in ticker.symbols}
    assert details.pop("act") == ("after 2 ms",)
    assert all("member" in line for lines in details.values() for line in lines)
    assert ticker.outputs[0].name == "out[…]"


def test_modes_are_boxes_and_their_switches_edges():
    thermostat = box(root(programs.Modal), "Modal.thermostat")
    idle, heating = thermostat.boxes
    assert [(b.kind, b.title, b.initial) for b in (idle, heating)] == [
        ("mode", "idle", True), ("mode", "heating", False),
    ]  # fmt: skip
    assert [symbol.title for symbol in idle.symbols] == ["check"]
    assert [inner.title for inner in heating.boxes] == ["filter"]
    switches = {(target, label) for kind, _, target, label in edges(thermostat) if kind == "transition"}
    into = "Modal.thermostat.{}|enter".format
    assert switches == {(into("heating"), "reset"), (into("idle"), "history"), (into("heating"), "history")}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("unfold", [False, True])
def test_every_edge_joins_two_things_of_its_box(name, unfold):
    for each in root(PROGRAMS[name], unfold=unfold).walk():
        sources = {item.id for item in (*each.symbols, *each.inputs)} | {p.id for b in each.boxes for p in b.outputs}
        targets = {item.id for item in (*each.symbols, *each.outputs)} | {p.id for b in each.boxes for p in b.inputs}
        for edge in each.edges:
            assert set(edge.sources) <= sources
            assert set(edge.targets) <= targets


def test_boxes_note_the_workers_of_their_reactors():
    drawn = root(programs.Nested, workers=[0] * 7 + [1] * 5 + [2] + [0] * 6)
    assert box(drawn, "Nested").notes == ("worker 0",)
    assert box(drawn, "Nested.groups").notes == ("workers 0, 1",)
    assert box(drawn, "Nested.groups.workers").notes == ("workers 0-2",)


def cyclic(of):
    marked = {symbol.id for each in of.walk() for symbol in each.symbols if symbol.cyclic}
    return marked, {(s, t) for each in of.walk() for edge in each.edges if edge.cyclic for s, t in edge.pairs}


ONE, TWO = "DirectCycle.one", "DirectCycle.two"
FIRST, SECOND = "CycleByOrder.server.first()", "CycleByOrder.server.second()"


@pytest.mark.parametrize(
    ("cls", "symbols", "number", "some"),
    [
        (programs.DirectCycle, {f"{ONE}.step()", f"{TWO}.step()"}, 6, {
            (f"{ONE}.out", f"{TWO}.inp"), (f"{TWO}.out", f"{ONE}.inp"), (f"{ONE}.inp", f"{ONE}.step()"),
        }),
        (programs.CycleByOrder, {FIRST, SECOND, "CycleByOrder.client.step()"}, 7, {(FIRST, SECOND)}),
        (programs.RingOfPorts, set(), 4, set()),
    ],
)  # fmt: skip
def test_a_cycle_is_marked_and_nothing_else(cls, symbols, number, some):
    marked, ends = cyclic(root(cls))
    assert (marked, len(ends)) == (symbols, number)
    assert some <= ends


class Turns(Reactor):
    """Its reactions are connected in a ring, but never both active."""

    warmth, chill = Input(), Input()
    heat, cold = Output(), Output()
    heating = Mode(initial=True)
    cooling = Mode()

    with heating:
        warm = noted(chill, effects=[heat, cooling])

    with cooling:
        cool = noted(warmth, effects=[cold, heating])


def test_a_ring_that_exclusive_modes_exclude_is_no_cycle_beside_one():
    class Both(Reactor):
        def __init__(self):
            self.turns, self.cycle = Turns(), programs.DirectCycle()
            connect(self.turns.heat, self.turns.warmth)
            connect(self.turns.cold, self.turns.chill)

    marked, ends = cyclic(root(Both))
    assert marked == {"Both.cycle.one.step()", "Both.cycle.two.step()"}
    assert all(end.startswith("Both.cycle.") for pair in ends for end in pair)


def test_a_cycle_through_a_mutable_input_and_a_mode_is_marked_whole():
    class Guarded(Reactor):
        inp = Input(mutable=True)
        out = Output()
        only = Mode(initial=True)

        def __init__(self):
            with self.only:
                self.stage = programs.Stage()
                connect(self.stage.out, self.out)

        hear = noted(inp, effects="stage.inp")

    class Main(Reactor):
        def __init__(self):
            self.guarded = Guarded()
            connect(self.guarded.out, self.guarded.inp)

    at = "Main.guarded"
    marked, ends = cyclic(root(Main))
    assert marked == {f"{at}.hear()", f"{at}.stage.step()"}
    outside = {(one.removeprefix(at), two.removeprefix(at)) for one, two in ends if "step()" not in one + two}
    assert outside == {
        (".out", ".inp"), (".inp", ".hear()"), (".hear()", ".only|in|Main.guarded.hear()"),
        (".only|in|Main.guarded.hear()", ".stage.inp"), (".stage.out", ".only|out|Main.guarded.out"),
        (".only|out|Main.guarded.out", ".out"),
    }  # fmt: skip


def test_a_delay_takes_no_part_in_a_cycle():
    class Delayed(Reactor):
        def __init__(self):
            self.one, self.two, self.three = programs.Stage(), programs.Stage(), programs.Stage()
            connect(self.one.out, self.two.inp)
            connect(self.two.out, self.one.inp)
            connect(self.two.out, self.three.inp, after=0)

    _, ends = cyclic(root(Delayed))
    assert ("Delayed.two.out", "Delayed.three.inp") not in ends


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - FAULTY))
def test_nothing_is_marked_in_a_program_that_runs(name):
    assert cyclic(root(PROGRAMS[name])) == (set(), set())


def test_other_faults_leave_what_can_be_drawn():
    elsewhere = programs.Stage()

    class Sloppy(Reactor):
        inp = Input()
        out = Output()

        def __init__(self):
            self.stage = programs.Stage()
            connect(self.inp, self.stage.inp)
            connect(self.stage.inp, self.out)  # backwards
            connect(elsewhere.out, self.stage.inp)

        hear = noted("imp", effects=out)
        read = noted(out)

    program, faults = examine(Sloppy)
    diagram = diagram_of(program, faults=faults)
    assert len(faults) == 4
    assert diagram.faults == tuple(faults)
    assert [symbol.title for symbol in diagram.root.symbols] == ["hear", "read"]
    assert "with a fault" in diagram.description
