"""Which reactions may run at one tag, as far as the program alone says."""

from __future__ import annotations

from math import gcd

from reactorlib.elaboration.records import Cell, Elaborated, Node, Trigger

# A time in ns and a microstep, or ONCE and the cell of startup or shutdown.
Moment = tuple[int, int]
ORIGIN: Moment = (0, 0)
ONCE = -1
ROOTS = ("startup", "timer", "physical", "physical delay")  # a physical event meets another only by chance
ANY_TIME = ("logical", "input")  # reactions and the user of a session choose when these come


def moments_of(program: Elaborated) -> dict[Node, Moment]:
    """The moment of each node that events can reach. Nodes of different moments never run at one tag.

    Say a timer with a period of 10 ms feeds stages that are connected after 5 ms. Then the third stage runs at the tags
    of the first, and the second between them. A value that goes around a ring is at one reactor of it at a time.
    """
    if program.modes or any(trigger.kind in ANY_TIME for trigger in program.triggers):
        found = dict.fromkeys(range(len(program.graph.reads)), ORIGIN)
    else:
        found = _reached(program)
    return found | _once(program)


def _once(program: Elaborated) -> dict[Node, Moment]:
    """The nodes that run at startup or shutdown and at no other tag, by their triggers or by what triggers those."""
    graph, rank = program.graph, program.order.rank
    roots = {t.cell: (ONCE, t.cell) for t in program.triggers if t.kind in ("startup", "shutdown")}
    found: dict[Node, Moment] = {}
    for node in sorted(range(len(rank)), key=rank.__getitem__):
        reaction = graph.reaction(node)
        triggers = graph.reads[node] if reaction is None else reaction.triggers
        moments = [roots.get(cell, ORIGIN) for cell in triggers]
        if moments and ORIGIN not in moments:
            found[node] = moments[0]
            for cell in graph.writes[node]:
                roots.setdefault(cell, moments[0])
        else:
            roots.update(dict.fromkeys(graph.writes[node], ORIGIN))
    return found


def _reached(program: Elaborated) -> dict[Node, Moment]:
    """Follow each connection once from the first events. Times count modulo what periods, and the differences between
    two ways to one place, have as a common divisor.
    """
    graph, triggers = program.graph, program.triggers
    period, steps = gcd(*(trigger.period for trigger in triggers)), 0
    cells: dict[Cell, Moment] = {}
    nodes: dict[Node, Moment] = {}
    waiting = [(cells, t.cell, (t.delay if t.kind == "timer" else 0, 0)) for t in triggers if t.kind in ROOTS]
    for places, at, (time, step) in waiting:
        if at in places:
            period, steps = gcd(period, time - places[at][0]), gcd(steps, step - places[at][1])
            continue
        places[at] = time, step
        if places is nodes:
            waiting += [(cells, cell, (time, step)) for cell in graph.writes[at]]
            continue
        waiting += [(nodes, node, (time, step)) for node in graph.heard_by.get(at, ())]
        waiting += [(cells, trigger.cell, _delayed(time, step, trigger))
                    for trigger in (triggers[index] for index in graph.captured_by.get(at, ()))
                    if trigger.kind == "delay"]  # fmt: skip
    return {node: (time % period if period else time, step % steps if steps else step)
            for node, (time, step) in nodes.items()}  # fmt: skip


def _delayed(time: int, step: int, trigger: Trigger) -> Moment:
    return (time + trigger.delay, 0) if trigger.delay else (time, step + 1)
