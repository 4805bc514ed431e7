"""A program specification as the source that a user would have written, and as the classes it defines."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from tests.reactorlib.reference.specification import (
    SIGNALS,
    Amount,
    ClassSpec,
    ConnectionSpec,
    PortSpec,
    ProgramSpec,
    ReactionSpec,
    Width,
    times_name,
)

MODULE = "random_program"
HEADER = '''\
"""A random program: `python THIS_FILE` in the repository's root prints its trace."""
import reactorlib as rl
from tests.reactorlib.reference.body import perform
from tests.reactorlib.reference.rule import Rule
'''
FOOTER = """

if __name__ == "__main__":
    for record in rl.run({main}, timeout={timeout}, fast=True, trace=True).trace:
        print(record)
"""
UNITS = ((10**9, "rl.SEC"), (10**6, "rl.MSEC"), (10**3, "rl.USEC"), (1, "rl.NSEC"))


def build(program: ProgramSpec) -> type[Any]:
    """The main class of the program, defined anew in the module `random_program`."""
    text = render(program)
    filename = f"<{MODULE}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = ModuleType(MODULE)
    sys.modules[MODULE] = module
    exec(compile(text, filename, "exec"), vars(module))
    main: type[Any] = vars(module)[program.main.name]
    return main


def render(program: ProgramSpec) -> str:
    """The program as a module that runs by itself."""
    classes = ["\n\n" + "\n".join(_ClassText(program, spec).lines()) + "\n" for spec in program.classes]
    footer = FOOTER.format(main=program.main.name, timeout=duration(program.timeout_ns))
    return "".join([HEADER, *classes, footer])


def duration(time_ns: int) -> str:
    """A time as an expression, in the largest unit that divides it."""
    if time_ns == 0:
        return "0"
    unit, name = next((unit, name) for unit, name in UNITS if time_ns % unit == 0)
    return f"{time_ns // unit} * {name}"


class _ClassText:
    """One class statement."""

    def __init__(self, program: ProgramSpec, spec: ClassSpec) -> None:
        self.program, self.spec = program, spec
        self.lineage = list(program.lineage(spec))
        self.ports = {port.name: port for part in self.lineage for port in part.ports}
        self.children = {child.name: child for part in self.lineage for child in part.children}
        self.timers = {timer.name for part in self.lineage for timer in part.timers}
        self.actions = {action.name for part in self.lineage for action in part.actions}
        self.inherited = {name for part in self.lineage[:-1] for name in part.element_names}

    def lines(self) -> list[str]:
        spec = self.spec
        body = [f"{mode} = rl.Mode({'initial=True' if mode == spec.modes[0] else ''})" for mode in spec.modes]
        body += [f"{port.name} = {self._port(port)}" for port in spec.ports]
        for timer in spec.timers:
            period = "" if timer.period_ns is None else f", period={_amount(timer.period_ns)}"
            line = f"{timer.name} = rl.Timer(offset={_amount(timer.offset_ns)}{period})"
            body += _within(timer.mode, [line])
        for action in spec.actions:
            spacing = ""
            if action.min_spacing_ns is not None:
                spacing = f", min_spacing={duration(action.min_spacing_ns)}, policy={action.policy!r}"
            line = f"{action.name} = rl.LogicalAction(min_delay={_amount(action.min_delay_ns)}{spacing})"
            body += _within(action.mode, [line])
        for state in spec.states:
            initial = 0 if isinstance(state.initial, str) else state.initial
            line = f"{state.name} = rl.State({initial}{', reset=True' if state.reset else ''})"
            body += _within(state.mode, [line])
        body += ["", *self._constructor()]
        for reaction in spec.reactions:
            body += ["", *_within(reaction.mode, self._reaction(reaction))]
        return [f"class {spec.name}({spec.base or 'rl.Reactor'}):", *_indented(body)]

    def _port(self, port: PortSpec) -> str:
        options = [] if port.width is None else [f"width={_width(port.width)}"]
        options += ["mutable=True"] if port.mutable else []
        return f"rl.{port.direction.capitalize()}({', '.join(options)})"

    def _constructor(self) -> list[str]:
        parameters = {name: default for part in self.lineage for name, default in part.parameters}
        signature = [f"{name}={duration(value) if times_name(name) else value}" for name, value in parameters.items()]
        lines = [f"def __init__({', '.join(['self', *signature])}):"]
        if self.spec.base is not None:
            passed = [f"{name}={name}" for part in self.lineage[:-1] for name, _ in part.parameters]
            lines.append(f"    super().__init__({', '.join(passed)})")
        lines.append("    self.invocations = {}")
        lines += [f"    self.{s.name} = {s.initial}" for s in self.spec.states if isinstance(s.initial, str)]
        for child in self.spec.children:
            arguments = [
                f"{name}={duration(value) if isinstance(value, int) and times_name(name) else value}"
                for name, value in child.arguments
            ]
            if child.width is None:
                line = f"self.{child.name} = {child.reactor}({', '.join(arguments)})"
            else:
                line = f"self.{child.name} = rl.Bank({', '.join([child.reactor, str(child.width), *arguments])})"
            lines += _indented(_within(child.mode, [line], owner="self."))
        for connection in self.spec.connections:
            lines += _indented(_within(connection.mode, [_connect(connection)], owner="self."))
        return lines

    def _reaction(self, reaction: ReactionSpec) -> list[str]:
        arguments = [self._element(trigger) for trigger in reaction.triggers]
        if reaction.uses:
            arguments.append(f"uses=[{', '.join(self._element(use) for use in reaction.uses)}]")
        if reaction.effects:
            arguments.append(f"effects=[{', '.join(self._effect(effect) for effect in reaction.effects)}]")
        if reaction.deadline_ns is not None:
            arguments.append(f"deadline={duration(reaction.deadline_ns)}")
        lines = [f"@rl.reaction({', '.join(arguments)})", *self._method(reaction, reaction.name, reaction.rule)]
        if reaction.late is not None:
            lines.append(f"@{reaction.name}.missed")
            lines += self._method(reaction, f"{reaction.name}_late", reaction.late)
        return lines

    def _method(self, reaction: ReactionSpec, name: str, rule: object) -> list[str]:
        triggers = [name for name in reaction.triggers if name not in SIGNALS]
        reads = list(dict.fromkeys((*triggers, *reaction.uses)))
        effects = [effect if isinstance(effect, str) else effect[1] for effect in reaction.effects]
        named = _identifiers(dict.fromkeys((*reads, *effects)))
        reading = [f"({self._kind(element, True)!r}, {named[element]})" for element in reads]
        writing = [f"({self._kind(element, False)!r}, {named[element]})" for element in effects]
        return [
            f"def {name}({', '.join(['self', *named.values()])}):",
            f"    perform(self, {reaction.name!r}, {rule!r},",
            f"            [{', '.join(reading)}], [{', '.join(writing)}])",
        ]

    def _element(self, name: str) -> str:
        """As the decorator names it: by object where the class body knows it, else by string."""
        if name in SIGNALS:
            return f"rl.{name[1:-1]}"
        return repr(name) if "." in name or name in self.inherited else name

    def _effect(self, effect: str | tuple[str, str]) -> str:
        return self._element(effect) if isinstance(effect, str) else f"rl.{effect[0]}({effect[1]})"

    def _kind(self, name: str, reading: bool) -> str:
        if name in self.timers:
            return "timer"
        if name in self.actions:
            return "action"
        if "." in name:
            owner, _, port_name = name.partition(".")
            child = self.children[owner]
            lineage = self.program.lineage(self.program.named(child.reactor))
            ports = {port.name: port for part in lineage for port in part.ports}
            port = ports[port_name]
            return "port" if child.width is None and port.width is None else "ports"
        if name not in self.ports:
            return "mode"
        port = self.ports[name]
        kind = "mutable" if port.mutable and reading else "port"
        return kind if port.width is None else f"{kind}s"


def _connect(connection: ConnectionSpec) -> str:
    left = [f"rl.interleaved(self.{name})" if mixed else f"self.{name}" for name, mixed in connection.left]
    right = [f"self.{name}" for name in connection.right]
    after = "" if connection.after_ns is None else f", after={duration(connection.after_ns)}"
    return f"rl.connect({_side(left)}, {_side(right)}{after})"


def _side(ports: list[str]) -> str:
    return ports[0] if len(ports) == 1 else f"[{', '.join(ports)}]"


def _identifiers(names: Iterable[str]) -> dict[str, str]:
    """The names of a method's arguments, after the elements and all different."""
    found: dict[str, str] = {}
    for name in names:
        argument = name.replace(".", "_")
        while argument in found.values():
            argument += "_"
        found[name] = argument
    return found


def _amount(value: Amount) -> str:
    return repr(value) if isinstance(value, str) else duration(value)


def _width(width: Width) -> str:
    if isinstance(width, tuple):
        return f"lambda {width[0]}: {width[0]} * {width[1]}"
    return repr(width)


def _within(mode: str | None, lines: list[str], owner: str = "") -> list[str]:
    return lines if mode is None else [f"with {owner}{mode}:", *_indented(lines)]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]
