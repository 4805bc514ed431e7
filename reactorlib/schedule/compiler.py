"""Writes the schedule of a tag as Python source: one straight line of calls, checks only where something is uncertain.

A schedule is `schedule(time, soon)`: it marks its events present, runs what follows in the order of the
program, puts delayed values into `soon` (the next microstep) or the queue, clears what may be present and
returns True when the run ends with this tag.

Names come in two forms that have nothing in common. What stands for an object of the program is named after its
path by `Source.name_of`, and has an underscore in it, never as its first character. What the schedule itself is
written with (`time`, `later`, `index`, ...) has no underscore, and neither has any keyword of Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from itertools import groupby
from typing import Any, NamedTuple
from unicodedata import normalize

from reactorlib.elaboration.program import Cell, Elaborated, ReactionInstance
from reactorlib.schedule.graph import Node, ReactionGraph
from reactorlib.schedule.plan import Part, Plan, Send, Step, Wait
from reactorlib.tag import format_ns

LOOP_FROM = 32  # so many alike steps in a row become a loop over rows: shorter code, the same order
IN_ROW: Node = -1
CHECKS = 32  # so many presence checks stand in one condition; more are a call


class Ref(NamedTuple):
    """What a name in the source stands for; `worker/loader.py` turns it into the object of a run."""

    kind: str  # cell, call, deadline, argument, mode, event, rows, cells, send, wait; column: of the rows of a loop
    index: Any = None
    part: int = 0


@dataclass
class Source:
    """The text of one schedule, what its names mean, and which node each line runs: IN_ROW, if a row names it."""

    name: str
    stops: bool
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
    """What is told of paths, which may hold anything, so that the source stays what it is."""
    return text if text.isprintable() else ascii(text)


class _Letters(dict[int, str | None]):
    """For `str.translate`: what no identifier can hold becomes an underscore, but for the end of an index."""

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        found = self[code] = None if letter == "]" else letter if f"_{letter}".isidentifier() else "_"
        return found


_LETTERS = _Letters()


def _identifier(wish: str) -> str:
    """The form of every name that comes from the program: a letter first, an underscore somewhere."""
    name = normalize("NFKC", wish).translate(_LETTERS).lstrip("_")  # as Python reads it
    if not name.isidentifier():  # nothing is left, or it begins with a digit
        name = f"of_{name}"
    return name if "_" in name else f"{name}_"


class Compiler:
    """Writes schedules for one program; `traced` records each reaction that runs."""

    def __init__(self, program: Elaborated, graph: ReactionGraph, traced: bool) -> None:
        self.program = program
        self.graph = graph
        self.traced = traced

    def write(self, plan: Plan, part: Part | None = None, pauses: bool = False) -> Source:
        """The source of the schedule for a plan, or of one worker's part of it.

        One that `pauses` is a generator: it stops once the other workers have begun, and hands over each wait.
        """
        hub = part is None or part.worker == 0
        name = "schedule of " + self._title(plan) + (f" on worker {part.worker}" if part else "")
        out = Source(name, plan.stops, pauses)
        out.add("def schedule(time, soon):", 0)
        self._events(out, plan.events if part is None else part.events, hub)
        if part is not None and hub:
            out.add("go(time)", comment="the other workers begin their parts of this tag")
        if pauses:
            out.add("yield")
        self._items(out, plan.steps if part is None else part.items)
        self._captures(out, plan, plan.captures if part is None else part.captures)
        if part is not None and hub:
            out.add("collect(soon)", comment="what the other workers scheduled")
        if part is not None and part.last:
            out.add("finish()", comment=self._shown(part.last))
        self._clear(out, plan.cleared if part is None else part.cleared)
        if plan.switches and hub:
            out.add("switch()")
        out.add("return True" if plan.stops else "return False")
        return out

    def _items(self, out: Source, items: Sequence[Step | Send | Wait]) -> None:
        level = None
        for shape, group in groupby(items, key=self._shape):
            alike = list(group)
            first = alike[0]
            if isinstance(first, Step) and self.program.order.level[first.node] != level:
                level = self.program.order.level[first.node]
                out.add(f"# level {level}")
            if shape is not None and len(alike) >= LOOP_FROM:
                self._loop(out, [step for step in alike if isinstance(step, Step)])
                continue
            for item in alike:
                if isinstance(item, Step):
                    self._step(out, item)
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

    def _title(self, plan: Plan) -> str:
        paths = [self.program.triggers[index].path for index in plan.events]
        shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
        return _in_one_line(f"{self.program.cls.__name__} ({shown})")

    def _cell(self, out: Source, cell: Cell) -> str:
        return out.name_of(Ref("cell", cell), _tail(self.program.cell_path(cell)))

    def _shown(self, cells: Sequence[Cell]) -> str:
        paths = [_tail(self.program.cell_path(cell)) for cell in cells]
        return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")

    # What happens before the reactions

    def _events(self, out: Source, events: Sequence[int], hub: bool) -> None:
        for index in events:
            trigger = self.program.triggers[index]
            out.add(f"{self._cell(out, trigger.cell)}.is_present = True")
            if hub and trigger.kind == "timer" and trigger.period:
                event = out.name_of(Ref("event", index), _tail(trigger.path))
                every = f"every {format_ns(trigger.period)}"
                out.add(f"later(time + {trigger.period}, {event}, None)", comment=every)

    # Reactions

    def _shape(self, step: Step | Send | Wait) -> Any:
        """Steps with equal shapes are alike but for their objects; None: stands alone."""
        if not isinstance(step, Step):
            return None
        reaction = self.graph.reaction(step.node)
        if reaction is None or reaction.deadline is not None or reaction.mode is not None or len(step.conditions) > 1:
            return None
        return (
            reaction.declaration,
            len(reaction.arguments),
            len(step.conditions),
            self.program.order.level[step.node],
        )

    def _loop(self, out: Source, steps: Sequence[Step]) -> None:
        """`for index, react, request_, reply_ in hub_rows: react(request_, reply_)`."""
        first = self.program.reactions[steps[0].node]
        names = [argument.path.rpartition(".")[2] for argument in first.arguments]
        arguments = [out.name_of(Ref("column", name, names[:i].count(name)), name) for i, name in enumerate(names)]
        checked = bool(steps[0].conditions)
        columns = ["index", *(["condition"] if checked else []), "react", *arguments]
        last = self.program.reactions[steps[-1].node]
        rows = out.name_of(Ref("rows", tuple(steps)), _tail(_without_index(first.path)) + "_rows")
        out.add(f"for {', '.join(columns)} in {rows}:", comment=f"{first.path} to {last.path}")
        indent = 2
        if checked:
            out.add("if condition.is_present:", indent)
            indent += 1
        self._invoke(out, f"react({', '.join(arguments)})", "index", indent, IN_ROW)

    def _step(self, out: Source, step: Step) -> None:
        reaction = self.graph.reaction(step.node)
        guard = self._guard(out, step, reaction)
        indent = 1
        if guard:
            out.add(f"if {guard}:")
            indent = 2
        if reaction is None:
            forward = self.graph.forward(step.node)
            source, target = self._cell(out, forward.source), self._cell(out, forward.target)
            out.add(
                f"{target}.value = {f'deepcopy({source}.value)' if forward.copy else f'{source}.value'}",
                indent,
                step.node,
            )
            out.add(f"{target}.is_present = True", indent)
            return
        name = _tail(reaction.path)
        arguments = ", ".join(self._argument(out, reaction, part) for part in range(len(reaction.arguments)))
        if reaction.deadline is None:
            react = out.name_of(Ref("call", reaction.index), name)
            self._invoke(out, f"{react}({arguments})", str(reaction.index), indent, reaction.index)
            return
        deadline = out.name_of(Ref("deadline", reaction.index), name + "_deadline")
        out.add(f"context.deadline = {deadline}  # {format_ns(reaction.deadline)}", indent)
        react = f"({deadline}.late if physical() > started + time + {deadline}.ns else {deadline}.body)"
        self._invoke(out, f"{react}({arguments})", str(reaction.index), indent, reaction.index)
        out.add("context.deadline = None", indent)

    def _invoke(self, out: Source, call: str, index: str, indent: int, node: Node) -> None:
        if self.traced:
            out.add("now = clock()", indent)
        out.add(call, indent, node)
        if self.traced:
            out.add(f"record({index}, now)", indent)

    def _argument(self, out: Source, reaction: ReactionInstance, part: int) -> str:
        argument = reaction.arguments[part]
        if argument.kind == "read" and not argument.multi:
            return self._cell(out, argument.cells[0])
        suffix = {"set": "_out", "schedule": "_action", "switch": "_mode", "read": "", "contained": ""}[argument.kind]
        return out.name_of(Ref("argument", reaction.index, part), _tail(argument.path) + suffix)

    def _guard(self, out: Source, step: Step, reaction: ReactionInstance | None) -> str:
        present = self._present(out, step.conditions)
        mode = reaction.mode if reaction is not None else self.graph.forward(step.node).mode
        if mode is None:
            return present
        state = out.name_of(Ref("mode", mode), _tail(self.program.modes[mode].path) + "_mode")
        if out.stops and reaction is not None and self.graph.hears_shutdown(reaction):
            return f"{state}.entered"
        return f"{state}.active" + (f" and ({present})" if present else "")

    def _present(self, out: Source, cells: Sequence[Cell]) -> str:
        if len(cells) > CHECKS:
            return f"present({out.name_of(Ref('cells', tuple(cells)), _tail(self.program.cell_path(cells[0])))})"
        return " or ".join(f"{self._cell(out, cell)}.is_present" for cell in cells)

    # What happens after the reactions

    def _captures(self, out: Source, plan: Plan, captures: Sequence[int]) -> None:
        events = {self.program.triggers[index].cell for index in plan.events}
        for index in captures:
            trigger = self.program.triggers[index]
            assert trigger.source is not None
            source = self._cell(out, trigger.source)
            event = out.name_of(Ref("event", index), _tail(trigger.path) + "_delayed")
            guards = [] if trigger.source in events else [f"{source}.is_present"]
            if trigger.mode is not None:
                state = out.name_of(Ref("mode", trigger.mode), _tail(self.program.modes[trigger.mode].path) + "_mode")
                guards.insert(0, f"{state}.active")
            if guards:
                out.add(f"if {' and '.join(guards)}:")
            after = ""
            if trigger.kind == "physical delay":
                line = f"arrive({event}, {source}.value)"
            elif trigger.delay:
                line = f"later(time + {trigger.delay}, {event}, {source}.value)"
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


def _without_index(path: str) -> str:
    return re.sub(r"\[\d+\]", "", path)


class _Loader:
    """Lets tracebacks show the source of a schedule for as long as its namespace lives."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, name: str) -> str:
        return self._text


def load(source: Source, objects: dict[str, Any]) -> Callable[..., Any]:
    """Compile a schedule with the objects that its names stand for."""
    text = source.text
    code = compile(text, source.name, "exec")
    spec = ModuleSpec(source.name, _Loader(text))  # type: ignore[arg-type]
    namespace: dict[str, Any] = {**objects, "__name__": source.name, "__loader__": spec.loader, "__spec__": spec}
    exec(code, namespace)
    schedule: Callable[..., Any] = namespace["schedule"]
    return schedule
