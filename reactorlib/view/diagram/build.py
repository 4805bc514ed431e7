"""From a Program to what a diagram shows: boxes by bank, symbols, and edges with both ends in one box."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from reactorlib.declaration.elements import PhysicalAction, Signal
from reactorlib.declaration.instance import Bound, BoundAction, BoundMode, BoundPort, BoundTimer, Channel, modes_of
from reactorlib.elaboration.program import Argument, Elaborated, ReactionInstance
from reactorlib.view.diagram import naming
from reactorlib.view.diagram.areas import Area, Areas, Region
from reactorlib.view.diagram.bundle import Strand, bundled
from reactorlib.view.diagram.fold import Group, boxes_of, groups_in, root_group
from reactorlib.view.diagram.model import Box, Diagram, EdgeKind, Port, Symbol, SymbolKind


def diagram_of(
    program: Elaborated,
    *,
    unfold: bool = False,
    levels: bool = False,
    placement: Mapping[str, int] | None = None,
    faults: Sequence[str] = (),
) -> Diagram:
    """What to draw of a program. Banks of alike reactors are folded into one box unless `unfold`.

    `levels` adds the level of each reaction. `placement` maps paths of reactors to workers, and holds for all
    that they contain. `faults` are those with which `examine` returned the program.
    """
    build = _Build(program, unfold, levels, placement)
    return Diagram(build.box(root_group(program)), len(program.instances), len(program.reactions), tuple(faults))


class _Build:
    def __init__(self, program: Elaborated, unfold: bool, levels: bool, placement: Mapping[str, int] | None) -> None:
        self.program = program
        self.unfold = unfold
        self.levels = levels and bool(program.order.level)
        self.box_of = boxes_of(program, unfold)
        self.cyclic_touches = {
            (reaction, self.id_of(element))
            for reaction in program.cycle.reactions
            for argument in _leaves(program.reactions[reaction])
            for element in argument.elements
            if isinstance(element, BoundPort) and any(cell in program.cycle.channels for cell in channels_of(element))
        }
        self.reactions: dict[int, list[ReactionInstance]] = defaultdict(list)
        for reaction in program.reactions:
            self.reactions[id(reaction.instance)].append(reaction)
        self.worker_of = None if placement is None else _workers(program, placement)

    def box(self, group: Group) -> Box:
        """The box of a group, with all that it contains."""
        return _BoxBuild(self, group).build()

    def id_of(self, element: Bound) -> str:
        return f"{self.box_of[id(element.owner)]}.{element.name}"


class _BoxBuild:
    """One box: the symbols and edges of the reactors that it stands for."""

    def __init__(self, whole: _Build, group: Group) -> None:
        self.whole = whole
        self.group = group
        self.first = group.members[0]
        self.areas = Areas(group.id, (mode.name for mode in modes_of(self.first)))

    def build(self) -> Box:
        self._ports()
        for inner in groups_in(self.group, self.whole.unfold):
            mode = inner.members[0].mode
            region = None if mode is None else mode.name
            box = self.whole.box(inner)
            self.areas[region].boxes.append(box)
            for port in (*box.inputs, *box.outputs):
                self.areas.place(port.id, region, f"{inner.name}.{port.name}")
        self._times()
        for position, reactions in enumerate(zip(*self._reactions(), strict=True)):
            self._reaction(position + 1, reactions)
        self._order_on_cycles()
        self._connections()
        return self._finish()

    def _reactions(self) -> list[list[ReactionInstance]]:
        return [self.whole.reactions[id(instance)] for instance in self.group.members]

    # Elements

    def _elements(self, kind: type[Any]) -> list[tuple[Any, list[Any]]]:
        """Elements of a kind, each with those of all members."""
        return [
            (bound, [instance.elements[name] for instance in self.group.members])
            for name, bound in self.first.elements.items()
            if isinstance(bound, kind)
        ]

    def _ports(self) -> None:
        area = self.areas[None]
        for bound, all_bound in self._elements(BoundPort):
            tip = f"{bound.declaration.kind} {bound.name}"
            port = Port(self.whole.id_of(bound), naming.port_name(all_bound), tip)
            (area.inputs if bound.is_input else area.outputs)[port.id] = port
            self.areas.place(port.id, None, bound.name)

    def _times(self) -> None:
        for bound, all_bound in self._elements(BoundTimer) + self._elements(BoundAction):
            kind: SymbolKind = "timer"
            if isinstance(bound, BoundAction):
                kind = "physical action" if isinstance(bound.declaration, PhysicalAction) else "logical action"
            mode = bound.declaration.mode
            item = f"{self.group.id}.{bound.name}"
            symbol = Symbol(item, kind, bound.name, naming.timing(all_bound), tip=f"{kind} {bound.name}")
            self.areas.symbol(symbol, None if mode is None else mode.name)

    def _signal(self, signal: Signal, region: Region) -> str:
        item = f"{self.group.id}.{region or ''}<{signal.name}>"
        if item not in self.areas:
            kind: SymbolKind = signal.name  # type: ignore[assignment]
            self.areas.symbol(Symbol(item, kind, signal.name, tip=f"trigger {signal.name}"), region)
        return item

    # Reactions

    def _reaction(self, number: int, reactions: Sequence[ReactionInstance]) -> None:
        first = reactions[0]
        declared = first.declaration
        region = None if declared.mode is None else declared.mode.name
        details = naming.deadline(reaction.deadline for reaction in reactions)
        if self.whole.levels:
            level = self.whole.program.order.level
            details += (naming.numbers("level", (level[reaction.index] for reaction in reactions)),)
        cyclic = any(reaction.index in self.whole.program.cycle.reactions for reaction in reactions)
        item = f"{self.group.id}.{declared.name}()"
        doc = naming.summary(declared)
        tip = f"reaction {number} {declared.name}" + (f": {doc}" if doc else "")
        symbol = Symbol(item, "reaction", declared.name, details, str(number), tip, cyclic)
        self.areas.symbol(symbol, region)
        for signal in (trigger for trigger in declared.triggers if isinstance(trigger, Signal)):
            self._touch("trigger", item, self._signal(signal, region), reactions, region)
        for argument in _leaves(first):
            if argument.kind == "switch":
                entry = self.areas.entry(self.whole.program.modes[argument.mode].name)
                label = "history" if argument.history else "reset"
                self.areas.join(Strand("transition", item, entry, label), region)
                continue
            kinds: list[EdgeKind] = []
            if argument.kind == "read" or argument.reads:
                kinds.append("trigger" if set(argument.cells) & set(first.triggers) else "use")
            if argument.kind != "read":
                kinds.append("effect")
            for end in dict.fromkeys(self.whole.id_of(element) for element in argument.elements):
                for kind in kinds:
                    self._touch(kind, item, end, reactions, region)

    def _touch(
        self, kind: EdgeKind, item: str, end: str, reactions: Sequence[ReactionInstance], region: Region
    ) -> None:
        cyclic = any((reaction.index, end) in self.whole.cyclic_touches for reaction in reactions)
        source, target = (item, end) if kind == "effect" else (end, item)
        self.areas.join(Strand(kind, source, target, "", cyclic), region)

    def _order_on_cycles(self) -> None:
        """Where a cycle passes from one reaction to the next without a value, that too is an edge."""
        members = {id(instance) for instance in self.group.members}
        for pair in self.whole.program.cycle.order:
            one, other = (self.whole.program.reactions[index] for index in pair)
            if id(one.instance) in members:
                source, target = (f"{self.group.id}.{reaction.declaration.name}()" for reaction in (one, other))
                mode = other.declaration.mode
                self.areas.join(
                    Strand("order", source, target, "runs before", True), None if mode is None else mode.name
                )

    # Connections

    def _connections(self) -> None:
        for instance in self.group.members:
            for connection in instance.connections:
                kind: EdgeKind = "connection" if connection.after is None else "delayed"
                kind = "physical" if connection.physical else kind
                region = None if connection.mode is None else connection.mode.name
                label = naming.connection_label(connection)
                sources, targets = connection.sources, connection.targets
                for position, target in enumerate(targets if sources else ()):
                    self._connect(kind, sources[position % len(sources)], target, label, region)

    def _connect(self, kind: EdgeKind, source: Channel, target: Channel, label: str, region: Region) -> None:
        cyclic = target[0].first + target[1] in self.whole.program.cycle.channels
        ends = self.whole.id_of(source[0]), self.whole.id_of(target[0])
        if all(end in self.areas for end in ends):
            members = id(source[0].owner), id(target[0].owner)
            self.areas.join(Strand(kind, *ends, label, cyclic, members), region)

    # The finished box

    def _finish(self) -> Box:
        group, area = self.group, self.areas[None]
        modes = tuple(self._mode(self.areas[mode.name], mode) for mode in modes_of(self.first))
        workers: tuple[int, ...] = ()
        if self.whole.worker_of is not None:
            workers = tuple(sorted({self.whole.worker_of[id(instance)] for instance in group.members}))
        cls = type(self.first.reactor)
        doc = naming.summary(cls) if "__doc__" in vars(cls) else ""
        title = f"{group.name}[{group.width}]" if group.width is not None else group.name
        return Box(
            id=group.id,
            kind="reactor",
            title=title,
            subtitle="" if self.first.parent is None else cls.__name__,
            width=group.width,
            notes=(naming.numbers("worker", workers),) if workers else (),
            workers=workers,
            tip=f"{group.id}: {doc or cls.__name__}",
            inputs=tuple(area.inputs.values()),
            outputs=tuple(area.outputs.values()),
            symbols=tuple(area.symbols.values()),
            boxes=(*modes, *area.boxes),
            edges=bundled(area.strands),
        )

    def _mode(self, area: Area, mode: BoundMode) -> Box:
        return Box(
            id=f"{self.group.id}.{mode.name}",
            kind="mode",
            title=mode.name,
            subtitle="initial mode" if mode.declaration.initial else "mode",  # type: ignore[attr-defined]
            initial=mode.declaration.initial,  # type: ignore[attr-defined]
            tip=f"mode {mode.name}",
            inputs=tuple(area.inputs.values()),
            outputs=tuple(area.outputs.values()),
            symbols=tuple(area.symbols.values()),
            boxes=tuple(area.boxes),
            edges=bundled(area.strands),
        )


def channels_of(port: BoundPort) -> range:
    """The numbers of its channels in the program."""
    return range(port.first, port.first + port.width)


def _workers(program: Elaborated, placement: Mapping[str, int]) -> dict[int, int]:
    """The worker of each instance: its own, or that of what contains it; 0 where nothing says."""
    found: dict[int, int] = {}
    for instance in program.instances:
        inherited = 0 if instance.parent is None else found[id(instance.parent)]
        found[id(instance)] = placement.get(instance.path, inherited)
    return found


def _leaves(reaction: ReactionInstance) -> Iterator[Argument]:
    """All elements that a reaction is given, those of a contained reactor one by one."""
    return chain.from_iterable(argument.leaves for argument in reaction.arguments)
