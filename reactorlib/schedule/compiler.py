"""Writes the schedule of a tag as Python source: one straight line of calls, checks only where something is uncertain.

A schedule is `schedule(time, soon)`. It marks its events present and runs the nodes that follow in the order of the
program. It puts delayed values into `soon` (the next microstep) or the queue. Then it clears all that may be present,
and returns True if the run ends with this tag. It calls `later`, `arrive` and `switch` of `worker/loader.py`. On
worker 0 it also calls `go` and `collect` of `executors/distributed.py`, and on another worker `finish` of
`executors/follower.py`.

Names come in two forms that have nothing in common. An object of the program is named after its path by
`Source.name_of`: the name has an underscore, not as its first character. The schedule's own names (`time`, `later`,
`index`, ...) have no underscore, like the keywords of Python.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple
from unicodedata import normalize

from reactorlib.elaboration.records import Argument, Cell, Elaborated, Node, ReactionInstance
from reactorlib.schedule.plan import NodeCall, Plan, Send, Wait
from reactorlib.tag import format_ns

LOOP_FROM = 32  # alike calls in a row that become a loop over rows: shorter code, the same order
IN_ROW: Node = -1  # of a line in such a loop: its row has the node
CHECKS = 32  # presence checks in one condition; more are a loop


class Ref(NamedTuple):
    """The meaning of a name in the source. `worker/loader.py` turns it into an object of the run."""

    kind: str  # cell, call, argument, mode, event, rows, cells, send, wait, or column (of rows)
    index: Any = None
    part: int = 0


@dataclass
class Source:
    """The text of one schedule, its names, and the node that each line runs or IN_ROW."""

    name: str
    pauses: bool = False
    lines: list[str] = field(default_factory=list)
    names: dict[str, Ref] = field(default_factory=dict)
    node_at: dict[int, Node] = field(default_factory=dict)
    known: dict[Ref, str] = field(default_factory=dict)

    def name_of(self, ref: Ref, wish: str) -> str:
        """The identifier of an object: readable, unique in this schedule."""
        found = self.known.get(ref)
        if found is None:
            base = found = _identifier(wish)
            suffix = 1
            while found in self.names:
                suffix += 1
                found = f"{base}_{suffix}"
            self.names[found] = ref
            self.known[ref] = found
        return found

    def add(self, line: str, indent: int = 1, node: Node | None = None, comment: str = "") -> None:
        if comment:
            line += f"  # {_in_one_line(comment)}"
        self.lines.append("    " * indent + line)
        if node is not None:
            self.node_at[len(self.lines)] = node

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def _in_one_line(text: str) -> str:
    """A text with paths, which may hold anything, as one line of source."""
    return text if text.isprintable() else ascii(text)


def _identifier(wish: str) -> str:
    """The form of every name that comes from the program: a letter first, an underscore somewhere."""
    name = re.sub(r"\W", "_", normalize("NFKC", wish).replace("]", "")).lstrip("_")  # normalized as Python does
    if not name.isidentifier():  # nothing is left, or it begins with a digit, or it has letters of no identifier
        name = "of_" + re.sub("[^0-9A-Za-z_]", "_", name)
    return name if "_" in name else f"{name}_"


class Compiler:
    """Writes schedules for one program; `traced` records each reaction that runs."""

    def __init__(self, program: Elaborated, traced: bool) -> None:
        self.program = program
        self.graph = program.graph
        self.traced = traced

    def write(self, plan: Plan, pauses: bool = False) -> Source:
        """The source of the schedule for a plan.

        With `pauses` it is a generator: it stops once the other workers have begun, and hands over each wait.
        """
        hub = not plan.worker  # the worker with the event queue: worker 0, or the only one
        events = _first_of([self.program.triggers[index].path for index in plan.events])
        title = _in_one_line(f"schedule of {self.program.cls.__name__} ({events})")
        out = Source(title + ("" if plan.worker is None else f" on worker {plan.worker}"), pauses)
        out.add("def schedule(time, soon):", 0)
        self._events(out, plan, hub)
        if plan.worker == 0:
            out.add("go(time)", comment="the other workers begin their parts of this tag")
        if pauses:
            out.add("yield")
        self._items(out, plan.items)
        self._captures(out, plan)
        if plan.worker == 0:
            out.add("collect()", comment="what the other workers scheduled")
        if plan.last:
            out.add("finish()", comment=self._shown(plan.last))
        self._clear(out, plan.cleared)
        if plan.switches and hub:
            out.add("switch()")
        out.add("return True" if plan.stops else "return False")
        return out

    def _items(self, out: Source, items: Sequence[NodeCall | Send | Wait]) -> None:
        level = None
        for shape, group in groupby(items, key=self._shape):
            alike = list(group)
            first = alike[0]
            if isinstance(first, NodeCall) and self.program.order.level[first.node] != level:
                level = self.program.order.level[first.node]
                out.add(f"# level {level}")
            if shape is not None and len(alike) >= LOOP_FROM:
                self._loop(out, [call for call in alike if isinstance(call, NodeCall)])
                continue
            for item in alike:
                if isinstance(item, NodeCall):
                    self._call(out, item)
                else:
                    self._cross(out, item)

    def _cross(self, out: Source, item: Send | Wait) -> None:
        """A value, or only its order, goes from worker to worker."""
        if isinstance(item, Send):
            line = out.name_of(Ref("send", item), f"send_to_worker_{item.to}") + "()"
        else:
            wait = out.name_of(Ref("wait", item), f"wait_for_worker_{item.of}")
            line = f"yield {wait}" if out.pauses else f"{wait}()"
        out.add(line, comment=self._shown(item.cells))

    def _cell(self, out: Source, cell: Cell) -> str:
        ref = Ref("cell", cell)
        return out.known.get(ref) or out.name_of(ref, _tail(self.program.cell_path(cell)))

    def _shown(self, cells: Sequence[Cell]) -> str:
        return _first_of([_tail(self.program.cell_path(cell)) for cell in cells])

    # Before the reactions

    def _events(self, out: Source, plan: Plan, hub: bool) -> None:
        for index in plan.marked:
            trigger = self.program.triggers[index]
            present = f"{self._cell(out, trigger.cell)}.is_present"
            if not plan.any_of:
                out.add(f"{present} = True")
            if hub and trigger.kind == "timer" and trigger.period:
                event = out.name_of(Ref("event", index), _tail(trigger.path))
                every = f"every {format_ns(trigger.period)}"
                if plan.any_of:
                    out.add(f"if {present}:")
                out.add(f"later({event}, time + {trigger.period}, None)", 1 + plan.any_of, comment=every)

    # Reactions

    def _shape(self, call: NodeCall | Send | Wait) -> Any:
        """Calls with equal shapes differ in their objects only. None: the call is like no other."""
        if not isinstance(call, NodeCall) or len(call.conditions) > 1:
            return None
        reaction = self.graph.reaction(call.node)
        if reaction is None:
            return None
        level = self.program.order.level[call.node]
        return reaction.declaration, len(self._given(reaction)), len(call.conditions), level

    def _given(self, reaction: ReactionInstance) -> tuple[Argument, ...]:
        """The arguments of a plain reaction. Any other call has them already, see `Worker.call`."""
        return reaction.arguments if reaction.is_plain and not self.traced else ()

    def _loop(self, out: Source, calls: Sequence[NodeCall]) -> None:
        """`for index, react, request_, reply_ in hub_rows: react(request_, reply_)`."""
        first = self.program.reactions[calls[0].node]
        names = [argument.name for argument in self._given(first)]
        arguments = [out.name_of(Ref("column", name, names[:i].count(name)), name) for i, name in enumerate(names)]
        checked = bool(calls[0].conditions)
        columns = ["index", *(["condition"] if checked else []), "react", *arguments]
        last = self.program.reactions[calls[-1].node]
        rows = out.name_of(Ref("rows", tuple(calls)), _tail(re.sub(r"\[\d+\]", "", first.path)) + "_rows")
        out.add(f"for {', '.join(columns)} in {rows}:", comment=f"{first.path} to {last.path}")
        indent = 2
        if checked:
            out.add("if condition.is_present:", indent)
            indent += 1
        out.add(f"react({', '.join(arguments)})", indent, IN_ROW)

    def _call(self, out: Source, call: NodeCall) -> None:
        present = self._present(out, call.conditions)
        if present:
            out.add(f"if {present}:")
        node, reaction = call.node, self.graph.reaction(call.node)
        if reaction is None:
            name, arguments = _tail(self.graph.forward(node).path) + "_copy", ""
        else:
            parts = [self._argument(out, node, part, given) for part, given in enumerate(self._given(reaction))]
            name, arguments = _tail(reaction.path), ", ".join(parts)
        out.add(f"{out.name_of(Ref('call', node), name)}({arguments})", 2 if present else 1, node)

    def _argument(self, out: Source, node: Node, part: int, argument: Argument) -> str:
        if argument.kind == "read" and not argument.multi:
            return self._cell(out, argument.cells[0])
        suffix = {"set": "_out", "schedule": "_action", "switch": "_mode"}.get(argument.kind, "")
        return out.name_of(Ref("argument", node, part), _tail(argument.path) + suffix)

    def _present(self, out: Source, cells: Sequence[Cell]) -> str:
        if len(cells) > CHECKS:
            many = out.name_of(Ref("cells", tuple(cells)), _tail(self.program.cell_path(cells[0])))
            return f"any(cell.is_present for cell in {many})"
        return " or ".join(f"{self._cell(out, cell)}.is_present" for cell in cells)

    # After the reactions

    def _captures(self, out: Source, plan: Plan) -> None:
        certain = set() if plan.any_of else {self.program.triggers[index].cell for index in plan.events}
        for index in plan.captures:
            trigger = self.program.triggers[index]
            assert trigger.source is not None
            source = self._cell(out, trigger.source)
            event = out.name_of(Ref("event", index), _tail(trigger.path) + "_delayed")
            guards = [] if trigger.source in certain else [f"{source}.is_present"]
            if trigger.mode is not None:
                state = out.name_of(Ref("mode", trigger.mode), _tail(self.program.modes[trigger.mode].path) + "_mode")
                guards.insert(0, f"{state}.active")
            if guards:
                out.add(f"if {' and '.join(guards)}:")
            after = ""
            if trigger.kind == "physical delay":
                line = f"arrive({event}, {source}.value)"
            elif trigger.delay:
                line = f"later({event}, time + {trigger.delay}, {source}.value)"
                after = f"after {format_ns(trigger.delay)}"
            else:
                line = f"soon[{event}] = {source}.value"
            out.add(line, 2 if guards else 1, comment=after)

    def _clear(self, out: Source, cleared: tuple[Cell, ...]) -> None:
        if len(cleared) > 4 * CHECKS:
            cells = out.name_of(Ref("cells", cleared), "may_be_present")
            out.add(f"for cell in {cells}:")
            out.add("cell.is_present = False", 2)
            return
        for cell in cleared:
            out.add(f"{self._cell(out, cell)}.is_present = False")


def _tail(path: str) -> str:
    """A path without the top-level reactor: Main.hub.step -> hub.step."""
    return path.partition(".")[2] or path


def _first_of(paths: list[str]) -> str:
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
