"""Random valid reactor programs; wide ones have banks and ports of 31 to 200 members, and odd names.

Valid by construction: within a class, contained reactors and reactions stand in one line. Values go forward along it
at the same tag, or backward with a delay. A backward connection may be tried without a delay. Then the finished
program is checked, and the connection is delayed after all if the reactions form a cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tests.reactorlib.reference import order
from tests.reactorlib.reference.choices import Choices, one_in, pick, some
from tests.reactorlib.reference.instances import elaborate
from tests.reactorlib.reference.naming import rename
from tests.reactorlib.reference.rule import Rule
from tests.reactorlib.reference.specification import (
    SHUTDOWN,
    SIGNALS,
    STARTUP,
    ActionSpec,
    Amount,
    ChildSpec,
    ClassSpec,
    ConnectionSpec,
    PortSpec,
    ProgramSpec,
    ReactionSpec,
    StateSpec,
    TimerSpec,
    Width,
)

MSEC = 10**6
SEC = 10**9
FAR_NS = (1_000_000 * SEC, 2_000_000 * SEC)  # deadlines that no test run misses
SIZES = (1, 2, 3)  # every value that a parameter `n` takes
MOST_REACTORS = 12
WIDE = (31, 32, 33, 200)  # about as many as become loops or calls in a schedule, and many more


def generate(choices: Choices, wide: bool = False) -> ProgramSpec:
    if not wide:
        return _generate(choices, None)
    return rename(choices, _generate(choices, pick(choices, (*(4 * WIDE[:3]), WIDE[3]))))


def _generate(choices: Choices, wide: int | None) -> ProgramSpec:
    """A program under plain names, some banks and ports of which are as wide as that."""
    library: list[_Class] = []
    for index in range(pick(choices, (0, 1, 2, 2, 3, 3) if wide is None else (1, 2, 2, 3))):
        library.append(_Drawing(choices, f"C{index}", library, wide).draw())
    main = _Drawing(choices, "Main", library, wide, is_main=True).draw()
    needed = _needed(main, library)
    used = [each for each in library if each.spec.name in needed]
    timeout_ns = pick(choices, (10, 0, 3, 10, 15, 20, 20, 30) if wide is None else (2, 3, 4, 6)) * MSEC
    daring = ProgramSpec(tuple(each.spec for each in (*used, main)), timeout_ns)
    if order.assign(elaborate(daring)):
        return daring
    return replace(daring, classes=tuple(each.cautious for each in (*used, main)))


@dataclass
class _Class:
    """A finished class, and the same with every backward connection delayed."""

    spec: ClassSpec
    cautious: ClassSpec
    cost: int  # instances, itself included
    ports: dict[str, PortSpec]  # also inherited ones
    has_modes: bool


@dataclass
class _Place:
    """A contained reactor while its surroundings are drawn."""

    child: ChildSpec
    reactor: _Class
    slot: int


@dataclass
class _Source:
    """Something that a connection may start from: slot -1 for own inputs."""

    reference: str
    slot: int
    mode: str | None
    is_bank: bool = False


@dataclass
class _Drawing:
    """One class while it is drawn."""

    choices: Choices
    name: str
    library: list[_Class]
    wide: int | None
    is_main: bool = False
    base: _Class | None = None
    modes: tuple[str, ...] = ()
    parameters: tuple[tuple[str, int], ...] = ()
    own: list[PortSpec] = field(default_factory=list)
    timers: list[TimerSpec] = field(default_factory=list)
    actions: list[ActionSpec] = field(default_factory=list)
    places: list[_Place] = field(default_factory=list)
    connections: list[tuple[ConnectionSpec, ConnectionSpec]] = field(default_factory=list)
    written: list[tuple[str, int, str | None]] = field(default_factory=list)  # by reactions
    shared: set[str] = field(default_factory=set)  # by reactions of one mode, with sources of other modes
    slots: int = 0

    def draw(self) -> _Class:
        """Everything, in the order of the class statement."""
        choices = self.choices
        self._inherit()
        if self.base is None and one_in(choices, 3):
            self.modes = ("one", "two", "three")[: choices.integer(2, 3)]
        if not self.is_main and self.base is None and one_in(choices, 2):
            self.parameters = (("n", pick(choices, SIZES)), ("d0", pick(choices, (1, 0, 2)) * MSEC))
        prefix = "x" if self.base is not None else ""
        if not self.is_main:
            self.own += [self._port(f"{prefix}in{index}", "input") for index in range(choices.integer(0, 2))]
        self.own += [self._port(f"{prefix}out{index}", "output") for index in range(choices.integer(0, 2))]
        for index in range(choices.integer(self.is_main, 2)):
            self.timers.append(self._timer(f"{prefix}t{index}"))
        self.actions = [self._action(f"{prefix}a{index}") for index in range(choices.integer(0, 2))]
        states = self._states()
        reactions = choices.integer(2, 5) if self.modes else choices.integer(1, 4)
        self._place(reactions)
        self._drive()
        drawn = [self._reaction(f"{prefix}r{index}", 2 * index) for index in range(reactions)]
        spec = ClassSpec(
            name=self.name,
            base=self.base.spec.name if self.base else None,
            parameters=self.parameters,
            ports=tuple(self.own),
            modes=self.modes,
            timers=tuple(self.timers),
            actions=tuple(self.actions),
            states=states,
            reactions=tuple(drawn),
            children=tuple(place.child for place in self.places),
            connections=tuple(daring for daring, _ in self.connections),
        )
        cautious = replace(spec, connections=tuple(safe for _, safe in self.connections))
        cost = 1 + sum(place.reactor.cost * self._most(place.child.width) for place in self.places)
        ports = {**(self.base.ports if self.base else {}), **{port.name: port for port in self.own}}
        return _Class(spec, cautious, cost, ports, bool(self.modes))

    def _inherit(self) -> None:
        """Sometimes extend a class that has neither modes nor contained reactors nor parameters."""
        bases = [
            each
            for each in self.library
            if not (each.has_modes or each.spec.children or each.spec.parameters or each.spec.base)
            and not (self.is_main and any(port.direction == "input" for port in each.ports.values()))
        ]
        if bases and one_in(self.choices, 6):
            self.base = pick(self.choices, bases)

    def _port(self, name: str, direction: str) -> PortSpec:
        widths: list[Width | None] = [None, None, 1, 2, 3]
        if self.parameters:
            widths += ["n", ("n", 2)]
        if self.wide and (direction == "input" or self.is_main):
            widths += [self.wide]
        width = pick(self.choices, widths)
        return PortSpec(name, direction, width, direction == "input" and one_in(self.choices, 6))

    def _timer(self, name: str) -> TimerSpec:
        times: list[Amount] = [0, 1 * MSEC, 0, 2 * MSEC, 5 * MSEC]
        if self.parameters:
            times.append("d0")
        offset_ns = pick(self.choices, times)
        period_ns = pick(self.choices, (3 * MSEC, None, 2 * MSEC, 1 * MSEC, 2 * MSEC, 7 * MSEC, 0))
        heartbeat = self.is_main and not self.timers  # something must go on, whatever the mode
        return TimerSpec(name, offset_ns, period_ns, None if heartbeat else self._mode())

    def _action(self, name: str) -> ActionSpec:
        delays: list[Amount] = [0, 0, 1 * MSEC, 3 * MSEC]
        if self.parameters:
            delays.append("d0")
        delay_ns = pick(self.choices, delays)
        if not one_in(self.choices, 3):
            return ActionSpec(name, delay_ns, mode=self._mode())
        spacing_ns = pick(self.choices, (2, 1, 4, 0)) * MSEC
        policy = pick(self.choices, ("defer", "drop", "replace", "update"))
        return ActionSpec(name, delay_ns, spacing_ns, policy, self._mode())

    def _states(self) -> tuple[StateSpec, ...]:
        if self.base is not None or one_in(self.choices, 3):
            return ()
        initial = "n" if self.parameters and one_in(self.choices, 2) else self.choices.integer(0, 9)
        return (StateSpec("memory", initial, one_in(self.choices, 2), self._mode()),)

    def _mode(self) -> str | None:
        return pick(self.choices, (None, *self.modes, *self.modes)) if self.modes else None

    def _place(self, reactions: int) -> None:
        """Choose contained reactors and their slots: odd ones, among those of the reactions, which are even."""
        cost = 1
        most = (MOST_REACTORS if self.is_main else MOST_REACTORS // 2) + (self.wide or 0)
        self.slots = 2 * reactions
        for index in range(self.choices.integer(self.is_main, 3) if self.library else 0):
            reactor = pick(self.choices, self.library)
            widths: list[Amount | None] = [None, 1, 2, 3]
            if self.parameters:
                widths.append("n")
            if self.wide:
                widths += [self.wide] * (4 if self.is_main else 1)
            width = pick(self.choices, widths)
            cost += reactor.cost * self._most(width)
            if cost > most:
                cost, width = cost - reactor.cost * (self._most(width) - 1), None
            child = ChildSpec(f"c{index}", reactor.spec.name, width, self._arguments(reactor), self._mode())
            slot = 2 * self.choices.integer(0, reactions) - 1
            self.places.append(_Place(child, reactor, slot))

    def _arguments(self, reactor: _Class) -> tuple[tuple[str, Amount], ...]:
        arguments: list[tuple[str, Amount]] = []
        for name, _ in reactor.spec.parameters:
            if name == "n":
                options: tuple[Amount, ...] = SIZES
            else:
                options = (0, 1 * MSEC, 4 * MSEC)
            if self.parameters:
                options = (*options, name)
            if not one_in(self.choices, 3):
                arguments.append((name, pick(self.choices, options)))
        return tuple(arguments)

    def _most(self, width: Amount | None) -> int:
        if isinstance(width, str):
            return max(SIZES)
        return 1 if width is None else width

    def _drive(self) -> None:
        """Decide who writes each port that could be written here: a connection, reactions or nobody."""
        for place in self.places:
            for port in place.reactor.ports.values():
                if port.direction == "input":
                    self._driver(f"{place.child.name}.{port.name}", place.slot, place.child.mode)
        for port in self.own:
            if port.direction == "output":
                self._driver(port.name, self.slots, None)

    def _driver(self, target: str, slot: int, mode: str | None) -> None:
        choice = self.choices.integer(0, 9)
        if choice >= 5 or not self._sources(slot, mode):
            if choice != 9:
                self.written.append((target, slot, mode))
        elif self.modes and mode is None and one_in(self.choices, 2):
            for each in self.modes:  # one source per mode: exclusive, so the port still has one at a time
                if one_in(self.choices, 3):
                    self.written.append((target, slot, each))
                    self.shared.add(target)
                else:
                    self._connection(target, slot, each)
        else:
            self._connection(target, slot, mode)

    def _sources(self, slot: int, mode: str | None) -> list[_Source]:
        """Where a connection to the slot in this mode may come from."""
        found = [_Source(port.name, -2, None) for port in self._inputs()]
        for place in self.places:
            if place.child.mode in (None, mode):
                found += [
                    _Source(
                        f"{place.child.name}.{port.name}", place.slot, place.child.mode, place.child.width is not None
                    )
                    for port in place.reactor.ports.values()
                    if port.direction == "output"
                ]
        return found

    def _inputs(self) -> list[PortSpec]:
        inherited = list(self.base.ports.values()) if self.base else []
        return [port for port in (*inherited, *self.own) if port.direction == "input"]

    def _connection(self, target: str, slot: int, mode: str | None) -> None:
        for _ in range(3):
            source = pick(self.choices, self._sources(slot, mode))
            interleave = source.is_bank and one_in(self.choices, 2)
            if self._fits(source.reference, target):
                break
        else:
            return
        after_ns = pick(self.choices, (None, None, None, 0, 1 * MSEC, 4 * MSEC))
        safe_ns = after_ns
        if after_ns is None and source.slot >= slot:
            safe_ns = pick(self.choices, (0, 2 * MSEC))
            after_ns = None if one_in(self.choices, 4) else safe_ns
        daring = ConnectionSpec(((source.reference, interleave),), (target,), after_ns, mode)
        self.connections.append((daring, replace(daring, after_ns=safe_ns)))

    def _fits(self, left: str, right: str) -> bool:
        """Whether the right width is a multiple of the left one, whatever the parameter is."""
        sizes = SIZES if self.parameters else (1,)
        return all(self._total(right, n) % self._total(left, n) == 0 for n in sizes)

    def _total(self, reference: str, n: int) -> int:
        if "." not in reference:
            ports = {**(self.base.ports if self.base else {}), **{port.name: port for port in self.own}}
            return _evaluate(ports[reference].width, n)
        name, port = reference.split(".")
        place = next(place for place in self.places if place.child.name == name)
        inner = {**dict(place.reactor.spec.parameters), **dict(place.child.arguments)}.get("n", 1)
        members = _evaluate(place.child.width, n)
        return members * _evaluate(place.reactor.ports[port].width, n if isinstance(inner, str) else inner)

    def _reaction(self, name: str, slot: int) -> ReactionSpec:
        choices = self.choices
        mode = None if self.is_main and slot == 0 else self._mode()
        reads = self._reads(slot, mode)
        special = [*SIGNALS]
        triggers = some(choices, reads, 4, least=1)
        beats = self.is_main and (slot == 0 or (mode is not None and not one_in(choices, 3)))
        if beats and (heartbeat := self.timers[0].name) not in triggers:
            triggers.insert(0, heartbeat)
        triggers += some(choices, special, 2) if one_in(choices, 3) else []
        triggers = triggers or [STARTUP]
        timers = [timer.name for timer in self.timers]
        uses = some(choices, [read for read in reads if read not in timers and read not in triggers], 2)
        effects: list[str | tuple[str, str]] = []
        effects += some(choices, self._effects(slot, mode, SHUTDOWN in triggers), 4, least=1)
        if self.modes and not one_in(choices, 3):
            others = [each for each in self.modes if each != mode]
            target = pick(choices, [*others, *others, mode or others[0]])
            effects.append((pick(choices, ("reset", "history")), target))
        hurried = one_in(choices, 6)
        return ReactionSpec(
            name,
            triggers=tuple(triggers),
            uses=tuple(uses),
            effects=tuple(effects),
            rule=self._rule(),
            deadline_ns=pick(choices, (*FAR_NS, 0)) if hurried else None,
            late=self._rule() if hurried else None,
            mode=mode,
        )

    def _reads(self, slot: int, mode: str | None) -> list[str]:
        modal = (None, mode)
        reads = [timer.name for timer in self.timers if timer.mode in modal]
        reads += [action.name for action in self.actions if action.mode in modal]
        reads += [port.name for port in self._inputs()]
        for place in self.places:
            if place.slot < slot and place.child.mode in modal:
                outputs = [port for port in place.reactor.ports.values() if port.direction == "output"]
                reads += [f"{place.child.name}.{port.name}" for port in outputs]
        return reads

    def _effects(self, slot: int, mode: str | None, ends: bool) -> list[str]:
        modal = (None, mode)
        effects = [target for target, at, where in self.written if at > slot and where in modal]
        if ends:  # any mode may be active then
            effects = [target for target in effects if target not in self.shared]
        return effects + [action.name for action in self.actions if action.mode in modal]

    def _rule(self) -> Rule:
        choices = self.choices
        return Rule(
            seed=choices.integer(0, 9999),
            budget=pick(choices, (4, 8, 12)),
            extras_ns=pick(choices, ((0,), (0, 0, 1 * MSEC, 2 * MSEC), (3 * MSEC,))),
            stop_at=choices.integer(1, 5) if one_in(choices, 40) else None,
            lists=one_in(choices, 5),
            eager=not one_in(choices, 4),
        )


def _evaluate(width: Width | None, n: int) -> int:
    if width is None:
        return 1
    if isinstance(width, tuple):
        return n * width[1]
    return n if isinstance(width, str) else width


def _needed(main: _Class, library: list[_Class]) -> set[str]:
    """The names of the classes that the main one contains or extends, directly or not."""
    needed = {main.spec.name}
    for each in (main, *reversed(library)):
        if each.spec.name in needed:
            needed |= {child.reactor for child in each.spec.children}
            needed |= {each.spec.base} - {None} if each.spec.base else set()
    return needed
