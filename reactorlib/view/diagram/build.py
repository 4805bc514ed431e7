"""From a program to a diagram: a box for each reactor or folded bank, with its symbols and edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple

from reactorlib import reset, shutdown, startup
from reactorlib.declaration.instance import Bound, BoundPort, BoundTrigger, Connection, Instance
from reactorlib.elaboration.records import Argument, Elaborated, ReactionInstance
from reactorlib.view.diagram import wording
from reactorlib.view.diagram.bundle import Strand, bundled
from reactorlib.view.diagram.model import Box, Diagram, EdgeKind, PortSymbol, Symbol, SymbolKind
from reactorlib.view.diagram.regions import Content, Region, Regions

SIGNALS = (startup, shutdown, reset)


class BoxGroup(NamedTuple):
    """The instances that one box stands for. `width`: of a folded bank, in each reactor that contains one."""

    id: str
    name: str
    width: int | None
    members: tuple[Instance, ...]


def diagram_of(
    program: Elaborated,
    *,
    unfold: bool = False,
    levels: bool = False,
    workers: Sequence[int] = (),
    faults: Sequence[str] = (),
) -> Diagram:
    """The diagram of a program. Equal members of a bank share one box unless `unfold`.

    `levels` adds the level of each reaction, `workers` that of each instance. `faults` are those of `examine`.
    """
    build = _Build(program, unfold, levels and bool(program.order.level), workers)
    whole = BoxGroup(program.root.path, program.root.name, None, (program.root,))
    return Diagram(build.box(whole), len(program.instances), len(program.reactions), tuple(faults))


class _Build:
    """The facts of a program that all boxes share."""

    def __init__(self, program: Elaborated, unfold: bool, levels: bool, workers: Sequence[int]) -> None:
        self.program, self.unfold, self.levels = program, unfold, levels
        self.box_of: dict[int, str] = {}  # the id of the box that stands for each instance, by its id()
        self.reactions: dict[int, list[ReactionInstance]] = defaultdict(list)
        for reaction in program.reactions:
            self.reactions[id(reaction.instance)].append(reaction)
        self.worker_of = dict(zip(map(id, program.instances), workers, strict=False))  # or of none

    def box(self, group: BoxGroup) -> Box:
        """The box of a group, with all that it contains."""
        self.box_of.update((id(member), group.id) for member in group.members)
        return _BoxBuild(self, group).build()

    def id_of(self, element: Bound) -> str:
        return f"{self.box_of.get(id(element.owner), '')}.{element.name}"  # of a reactor elsewhere: a fault

    def is_cyclic(self, element: Bound) -> bool:
        """Whether a channel of a port is on a causality cycle."""
        if not isinstance(element, BoundPort):
            return False
        return any(cell in self.program.cycle.channels for cell in range(element.first, element.first + element.width))


class _BoxBuild:
    """One box. Its members are alike: the first one has the names, all have the numbers and connections."""

    def __init__(self, whole: _Build, group: BoxGroup) -> None:
        self.whole, self.group, self.first = whole, group, group.members[0]
        self.regions = Regions(group.id, (mode.name for mode in self.first.modes))

    def build(self) -> Box:
        self._ports()
        for inner in groups_in(self.group, self.whole.unfold):
            region = _region(inner.members[0])
            box = self.whole.box(inner)
            self.regions.contents[region].boxes.append(box)
            for port in (*box.inputs, *box.outputs):
                self.regions.place(port.id, region, f"{inner.name}.{port.name}")
        self._times()
        columns = zip(*(self.whole.reactions[id(member)] for member in self.group.members), strict=True)
        for number, reactions in enumerate(columns, 1):
            self._reaction(number, reactions)
        self._order_on_cycles()
        for member in self.group.members:
            for connection in member.connections:
                self._connection(connection)
        return self._reactor()

    def _elements(self, kind: type[Any]) -> Iterator[tuple[Any, list[Any]]]:
        """Elements of a kind: that of the first member, and those of all."""
        for name, bound in self.first.elements.items():
            if isinstance(bound, kind):
                yield bound, [member.elements[name] for member in self.group.members]

    def _ports(self) -> None:
        content = self.regions.contents[None]
        for bound, alike in self._elements(BoundPort):
            tip = f"{bound.declaration.kind} {bound.name}"
            port = PortSymbol(self.whole.id_of(bound), wording.port_name(alike), tip)
            (content.inputs if bound.is_input else content.outputs)[port.id] = port
            self.regions.place(port.id, None, bound.name)

    def _times(self) -> None:
        for bound, alike in self._elements(BoundTrigger):
            kind: SymbolKind = bound.declaration.kind
            item = f"{self.group.id}.{bound.name}"
            symbol = Symbol(item, kind, bound.name, wording.timing(alike), tip=f"{kind} {bound.name}")
            self.regions.add(symbol, _region(bound.declaration))

    def _reaction(self, number: int, reactions: Sequence[ReactionInstance]) -> None:
        first = reactions[0]
        region = _region(first.declaration)
        symbol = self._reaction_symbol(number, reactions)
        self.regions.add(symbol, region)
        for trigger in first.declaration.triggers:
            if trigger in SIGNALS:
                item = f"{self.group.id}.{region or ''}<{trigger.name}>"
                kind: SymbolKind = trigger.name
                self.regions.add(Symbol(item, kind, trigger.name, tip=f"trigger {trigger.name}"), region)
                self.regions.join(Strand("trigger", item, symbol.id), region)
        for argument in first.leaves:
            if argument.kind == "switch":
                entry = self.regions.entry(self.whole.program.modes[argument.mode].name)
                label = "history" if argument.history else "reset"
                self.regions.join(Strand("transition", symbol.id, entry, label), region)
            else:
                self._touch(symbol, argument, first, region)

    def _reaction_symbol(self, number: int, reactions: Sequence[ReactionInstance]) -> Symbol:
        program, declared = self.whole.program, reactions[0].declaration
        details = wording.deadline(reaction.deadline for reaction in reactions)
        if self.whole.levels:
            details += (wording.numbers("level", (program.order.level[reaction.index] for reaction in reactions)),)
        doc = wording.summary(declared)
        item, tip = f"{self.group.id}.{declared.name}()", f"reaction {number} {declared.name}"
        cyclic = any(reaction.index in program.cycle.reactions for reaction in reactions)
        tip += f": {doc}" if doc else ""
        return Symbol(item, "reaction", declared.name, details, str(number), tip, cyclic)

    def _touch(self, symbol: Symbol, argument: Argument, first: ReactionInstance, region: Region) -> None:
        """The strands between a reaction and the elements that one of its arguments stands for."""
        ends: dict[str, bool] = {}
        for element in argument.elements:
            end = self.whole.id_of(element)
            ends[end] = ends.get(end, False) or (symbol.cyclic and self.whole.is_cyclic(element))
        for end, cyclic in ends.items():
            if argument.kind == "read" or argument.is_read:
                kind: EdgeKind = "trigger" if set(argument.cells) & set(first.triggers) else "use"
                self.regions.join(Strand(kind, end, symbol.id, "", cyclic), region)
            if argument.kind != "read":
                self.regions.join(Strand("effect", symbol.id, end, "", cyclic), region)

    def _order_on_cycles(self) -> None:
        """Edges where a cycle passes from one reaction to the next without a value."""
        members = {id(member) for member in self.group.members}
        for pair in self.whole.program.cycle.order:
            one, other = (self.whole.program.reactions[index] for index in pair)
            if id(one.instance) in members:
                source, target = (f"{self.group.id}.{reaction.declaration.name}()" for reaction in (one, other))
                self.regions.join(Strand("order", source, target, "runs before", True), _region(other.declaration))

    def _connection(self, connection: Connection) -> None:
        kind: EdgeKind = "connection" if connection.after is None else "delayed"
        kind = "physical" if connection.physical else kind
        label = wording.connection_label(connection)
        region = _region(connection)
        for source, target in zip(cycle(connection.sources), connection.targets, strict=False):
            cyclic = target[0].first + target[1] in self.whole.program.cycle.channels
            members = id(source[0].owner), id(target[0].owner)
            ends = self.whole.id_of(source[0]), self.whole.id_of(target[0])
            self.regions.join(Strand(kind, *ends, label, cyclic, members), region)

    def _reactor(self) -> Box:
        group, worker_of = self.group, self.whole.worker_of
        workers = sorted({worker_of[id(member)] for member in group.members}) if worker_of else []
        cls = type(self.first.reactor)
        doc = wording.summary(cls) if "__doc__" in vars(cls) else ""
        title = group.name if group.width is None else f"{group.name}[{group.width}]"
        subtitle = "" if self.first.parent is None else cls.__name__
        notes = (wording.numbers("worker", workers),) if workers else ()
        tip = f"{group.id}: {doc or cls.__name__}"
        box = Box(group.id, "reactor", title, subtitle, group.width, notes, tuple(workers), tip=tip)
        return _filled(box, self.regions.contents[None], self._modes())

    def _modes(self) -> Iterator[Box]:
        for mode in self.first.modes:
            initial: bool = mode.declaration.initial
            box = Box(f"{self.group.id}.{mode.name}", "mode", mode.name, "initial mode" if initial else "mode",
                      initial=initial, tip=f"mode {mode.name}")  # fmt: skip
            yield _filled(box, self.regions.contents[mode.name])


def _filled(box: Box, content: Content, modes: Iterable[Box] = ()) -> Box:
    return box._replace(
        inputs=tuple(content.inputs.values()),
        outputs=tuple(content.outputs.values()),
        symbols=tuple(content.symbols.values()),
        boxes=(*modes, *content.boxes),
        edges=bundled(content.strands),
    )


def _region(part: Any) -> Region:
    return None if part.mode is None else part.mode.name


def groups_in(group: BoxGroup, unfold: bool) -> list[BoxGroup]:
    """The boxes within a box. Its members are alike, so their children correspond one by one."""
    alike: dict[str, list[tuple[Instance, ...]]] = {}  # by the name of their bank or list, which others may interrupt
    for column in zip(*(instance.children for instance in group.members), strict=True):
        alike.setdefault(column[0].name.partition("[")[0], []).append(column)
    found: list[BoxGroup] = []
    for name, bank in alike.items():
        in_bank = bank[0][0].name != name
        if in_bank and not unfold and len({_shape(instance) for column in bank for instance in column}) == 1:
            members = tuple(instance for column in zip(*bank, strict=True) for instance in column)
            found.append(BoxGroup(f"{group.id}.{name}", name, len(bank), members))
        else:
            found += [BoxGroup(f"{group.id}.{c[0].name}", c[0].name, None, tuple(c)) for c in bank]
    return found


def _shape(instance: Instance) -> Hashable:
    """Equal for instances that can share a box: of one class, with the same elements and contents."""
    return (
        type(instance.reactor),
        _region(instance),
        tuple((name, type(bound), getattr(bound, "multi", None)) for name, bound in instance.elements.items()),
        tuple((child.name, _shape(child)) for child in instance.children),
    )
