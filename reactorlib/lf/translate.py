"""From syntax trees to reactor classes: declared elements, reactions, and the blueprint of a constructor.

A class is flat: what its reactor extends is written into it, base reactors first, as Lingua Franca says. Everything
declared lies at its line of the `.lf` file. Reads no file, makes no instance and runs no reaction.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from reactorlib.declaration import class_body, elements
from reactorlib.declaration.reactor import Reactor
from reactorlib.declaration.source_position import where
from reactorlib.lf import syntax
from reactorlib.lf.blueprint import Blueprint, Default, Making, Part
from reactorlib.lf.bodies import BodyError, Function, Names, execute, function
from reactorlib.lf.expressions import WIDTH_OF, ExpressionError, Scope, Value, as_time, hint, value_of
from reactorlib.lf.files import Definition, Files, Source
from reactorlib.lf.names import LinguaFrancaReactor
from reactorlib.lf.port_views import PORT_VIEW, viewed
from reactorlib.tag import LONGEST, Time

SIGNALS = {"startup": elements.startup, "shutdown": elements.shutdown, "reset": elements.reset}


class Program:
    """All classes that the files of a program define, made when they are asked for, with one module for all bodies."""

    def __init__(self, path: Path, files: Files, module: ModuleType | None) -> None:
        self.path = path
        self.files = files
        self.module = module  # None: code is left out
        self.names = None if module is None else vars(module)
        self.faults: list[str] = []
        self.folders = list(dict.fromkeys(Path(source.path).resolve().parent for source in files.sources.values()))
        self._made: dict[Definition, Translation] = {}
        self._in_the_making: list[Definition] = []

    @property
    def translations(self) -> Iterable[Translation]:
        """All that are made."""
        return self._made.values()

    def translation(self, definition: Definition) -> Translation | None:
        """The translation of a definition, its faults noted; None where it is in the making, and so contains itself."""
        if definition in self._in_the_making:
            return None
        found = self._made.get(definition)
        if found is None:
            self._in_the_making.append(definition)
            found = self._made[definition] = Translation(self, definition)
            self._in_the_making.pop()
        return found

    def fault(self, source: Source, line: int, words: str) -> None:
        """Note a fault."""
        self.faults.append(f"{source.path}:{line}: {words}")


class Translation:
    """One reactor definition and its class, `cls`, made at once."""

    def __init__(self, program: Program, definition: Definition) -> None:
        self.program = program
        self.definition = definition
        self.elements: dict[str, elements.Element] = {}
        self._lines: dict[str, int] = {}  # of all names that are taken
        self._methods: dict[str, Any] = {}
        self._contained: dict[str, Translation | None] = {}
        self._reactions: list[tuple[syntax.Reaction, Source, elements.Mode | None]] = []
        self._connections: list[tuple[syntax.Connection, Source, elements.Mode | None]] = []
        module, reactor = program.module, definition.reactor
        attributes = {n: syntax.Property(n, v[0], reactor.line) for n, v in reactor.attributes.items() if v}
        self.blueprint = Blueprint(
            definition.name,
            (str(program.path), module.__name__ if module else "", definition.name, module is None),
            {**{entry.name: entry for entry in definition.source.tree.properties}, **attributes},
            reactor.federated,
        )
        self.cls = self._made()

    @property
    def class_values(self) -> dict[str, Any]:
        """What the preambles of the reactor define, and its methods."""
        return self._methods

    def _made(self) -> type[Reactor]:
        bases = list(self._linear(self.definition, ()))
        for base in bases:
            for parameter in base.reactor.parameters:
                self._parameter(base.source, parameter)
        for base in bases:
            self._collect(base.source, base.reactor.members, None)
        for connection, source, mode in self._connections:
            self._connect(connection, source, mode)
        blueprint, module = self.blueprint, self.program.module
        inputs = [name for name, element in self.elements.items() if isinstance(element, elements.Input)]
        bodies = [tree for tree, _, _ in self._reactions]
        self._viewed = viewed(inputs, [code.text for tree in bodies for code in (tree.code, tree.handler) if code])
        blueprint.shadowed = {name: value for name, value in self._methods.items() if name in self.elements}
        body = {**self._methods, **self.elements, **self._all_reactions(), "__init__": blueprint.constructor(),
                "__lf__": blueprint, "__module__": __name__ if module is None else module.__name__,
                "__annotations__": dict.fromkeys(self._methods, "Final")}  # fmt: skip  # a preamble's, shared as there
        made: type[Reactor] = type(blueprint.name, (LinguaFrancaReactor,), body)
        return made

    def _linear(self, definition: Definition, inside: tuple[Definition, ...]) -> Iterator[Definition]:
        """What a reactor extends, each once, before itself."""
        if definition in inside:
            self.program.fault(definition.source, definition.reactor.line, f"{definition.name} extends itself")
            return
        seen: list[Definition] = []
        for name in definition.reactor.extends:
            base = self._found(definition.source, name, definition.reactor.line)
            if base is not None:
                seen += [more for more in self._linear(base, (*inside, definition)) if more not in seen]
        yield from [*seen, definition]

    def _found(self, source: Source, name: str, line: int) -> Definition | None:
        found = self.program.files.find(source, name)
        if found is None:
            meant = hint(name, self.program.files.known(source)) or ": it is neither defined in this file nor imported"
            self.program.fault(source, line, f"no reactor {name!r}{meant}")
        return found

    # Expressions

    def _value(self, source: Source, tree: syntax.Expression, *more: str) -> Value:
        """The function of parameters, `bank_index` and `more` that an expression is; its faults are noted."""
        try:
            return value_of(tree, {**self.blueprint.defaults, **dict.fromkeys(("bank_index", *more))}, source.path,
                            self.program.names)  # fmt: skip
        except ExpressionError as error:
            self.program.fault(source, error.line, str(error))
        except BodyError as error:
            self.program.faults.append(str(error))
        return lambda _: None

    def _time(self, source: Source, tree: syntax.Expression) -> Any:
        if isinstance(tree, syntax.Literal):
            return tree.value
        value = self._value(source, tree)
        return self._of_parameters(lambda scope: as_time(value(scope)))

    def _width(self, source: Source, tree: syntax.Expression | None) -> Any:
        if tree is None or isinstance(tree, syntax.Literal):
            return None if tree is None else tree.value
        value = self._value(source, tree)
        return self._of_parameters(lambda scope: value({**scope, WIDTH_OF: lambda port: self._width_of(port, scope)}))

    def _width_of(self, reference: syntax.PortReference, scope: Scope) -> Any:
        port = self.elements.get(reference.name) if reference.container is None else None
        if not isinstance(port, elements.Port):
            raise ValueError(f"widthof({reference}) is not known here")
        width: Any = port.width
        return 1 if width is None else width(**scope) if callable(width) else width

    def _of_parameters(self, value: Value) -> Any:
        """An expression as the kernel evaluates it: a function whose arguments are named like parameters."""

        def evaluated(**scope: Any) -> Any:
            return value(scope)

        names = dict.fromkeys([*self.blueprint.defaults, "bank_index"])
        kind = inspect.Parameter.KEYWORD_ONLY
        evaluated.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]  # what inspect looks for
        return evaluated

    # Members

    def _parameter(self, source: Source, parameter: syntax.Parameter) -> None:
        tree = parameter.value
        shown = tree.value if isinstance(tree, syntax.Literal) else ...
        value = None if tree is None else self._value(source, tree, "self")
        self.blueprint.defaults[parameter.name] = Default(value, shown, f"{source.path}:{parameter.line}")
        self._lines[parameter.name] = parameter.line

    def _take(self, source: Source, name: str, line: int) -> None:
        earlier = self._lines.get(name)
        if earlier is not None:
            self.program.fault(source, line, f"{self.definition.name}.{name} is declared in line {earlier} already")
        elif self.program.module is not None and keyword.iskeyword(name):
            self.program.fault(source, line, f"{name!r} is a word of Python's and cannot be a name")
        self._lines[name] = line

    def _collect(self, source: Source, members: Iterable[syntax.Member], mode: elements.Mode | None) -> None:
        for member in members:
            if isinstance(member, syntax.Preamble | syntax.Method):
                self._method(source, member)
            elif isinstance(member, syntax.Reaction):
                self._reactions.append((member, source, mode))
            elif isinstance(member, syntax.Connection):
                self._connections.append((member, source, mode))
            else:
                self._take(source, member.name, member.line)
                with where(f"{source.path}:{member.line}"):
                    self._named_member(source, member, mode)

    def _named_member(self, source: Source, member: syntax.Named, mode: elements.Mode | None) -> None:
        if isinstance(member, syntax.Instantiation):
            self._instance(source, member, mode)
        elif isinstance(member, syntax.Mode):
            made = self.elements[member.name] = elements.Mode(initial=member.initial)
            self._collect(source, member.members, made)
        else:
            if isinstance(member, syntax.StateVariable):
                value = self._value(source, member.value or syntax.Literal(None), "self")
                self._part(self.blueprint.states, source, member, None,
                           lambda making: vars(making.reactor).update({member.name: value(making.scope)}))  # fmt: skip
                if not member.reset:
                    return
            element = self.elements[member.name] = self._element(source, member)
            element.mode = mode

    def _method(self, source: Source, member: syntax.Preamble | syntax.Method) -> None:
        names = self.program.names
        if names is None:
            return
        try:
            if isinstance(member, syntax.Preamble):
                execute(member.code, source.path, names, self._methods)
                self._let_travel(names)
            else:
                made = function(member.name, member.arguments, member.code, source.path, names)
                self._methods[member.name] = made
        except BodyError as error:
            self.program.faults.append(str(error))

    def _let_travel(self, module: Names) -> None:
        """Classes of a preamble where other processes find them: in the module."""
        for name, made in self._methods.items():
            if isinstance(made, type) and (made.__module__, made.__qualname__) == (module["__name__"], name):
                made.__qualname__ = f"{self.definition.name}_{name}"
                module.setdefault(made.__qualname__, made)

    def _element(
        self, source: Source, member: syntax.StateVariable | syntax.Port | syntax.Timer | syntax.Action
    ) -> elements.Element:
        if isinstance(member, syntax.StateVariable):
            return elements.State(None, reset=True)  # to what the constructor leaves
        if isinstance(member, syntax.Port):
            width = self._width(source, member.width)
            return elements.Output(width) if member.output else elements.Input(width, mutable=member.mutable)
        if isinstance(member, syntax.Timer):
            return elements.Timer(self._time(source, member.offset), self._time(source, member.period))
        spacing = None if member.spacing is None else self._time(source, member.spacing)
        kind = elements.PhysicalAction[Any] if member.physical else elements.LogicalAction[Any]
        policy: Any = member.policy
        action = kind(self._time(source, member.delay), spacing, policy)
        action.plain_ns = True
        return action

    def _instance(self, source: Source, member: syntax.Instantiation, mode: elements.Mode | None) -> None:
        definition = self._found(source, member.reactor, member.line)
        self._contained[member.name] = None
        if definition is None:
            return
        contained = self._contained[member.name] = self.program.translation(definition)
        if contained is None:
            self.program.fault(source, member.line, f"{definition.name} contains itself")
            return
        if member.transient:
            words = "a transient federate comes and goes while others run; here one program runs all federates"
            self.program.fault(source, member.line, words)
        known = contained.blueprint.defaults
        arguments: dict[str, Value] = {}
        for argument in member.arguments:
            if argument.name not in known:
                words = f"{definition.name} has no parameter {argument.name!r}{hint(argument.name, known)}"
                self.program.fault(source, argument.line, words)
            elif argument.value is not None:
                arguments[argument.name] = self._value(source, argument.value, "self")
        width = None if member.width is None else self._value(source, member.width, "self")
        self._part(self.blueprint.children, source, member, mode,
                   lambda making: making.contain(member.name, contained.cls, width, arguments))  # fmt: skip

    def _part(
        self, parts: list[Part], source: Source, member: Any, mode: elements.Mode | None, make: Callable[[Making], None]
    ) -> None:
        name = getattr(member, "name", "connection")
        parts.append(Part(name, make, mode, f"{source.path}:{member.line}"))

    def _connect(self, tree: syntax.Connection, source: Source, mode: elements.Mode | None) -> None:
        found = [self._is_port(source, reference) for reference in (*tree.sources, *tree.targets)]
        if not all(found):
            return
        if isinstance(tree.after, syntax.Literal) and not isinstance(tree.after.value, Time) and tree.after.value:
            self.program.fault(source, tree.line, f"after {tree.after.value}: a time has a unit, such as msec")
        after = None if tree.after is None else self._value(source, tree.after, "self")
        self._part(self.blueprint.links, source, tree, mode, lambda making: making.connect(tree, after, source.path))

    def _is_port(self, source: Source, reference: syntax.PortReference) -> bool:
        """Whether a connection's end is there; notes what is wrong with it."""
        of: Translation | None = self
        if reference.container is not None:
            if reference.container not in self._contained:
                meant = hint(reference.container, self._contained)
                words = f"{self.definition.name} contains no reactor {reference.container!r}{meant}"
                self.program.fault(source, reference.line, words)
            of = self._contained.get(reference.container)
        if of is None:
            return False  # which is noted
        ports = [name for name, element in of.elements.items() if isinstance(element, elements.Port)]
        if reference.name not in ports:
            words = f"{of.definition.name} has no port {reference.name!r}{hint(reference.name, ports)}"
            self.program.fault(source, reference.line, words)
        return reference.name in ports

    # Reactions

    def _all_reactions(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number, (tree, source, mode) in enumerate(self._reactions, 1):
            name = tree.name or f"reaction_{number}"
            while name in self._lines or name in self._methods or name in found:
                name += "_"
            with where(f"{source.path}:{tree.line}"):
                reaction = found[name] = self._reaction(name, tree, source)
            reaction.mode = mode
        return found

    def _reaction(self, name: str, tree: syntax.Reaction, source: Source) -> class_body.Reaction[Any]:
        triggers = tree.triggers or tuple(  # none: any input
            syntax.PortReference(None, name, tree.line)
            for name, element in self.elements.items()
            if isinstance(element, elements.Input)
        )
        text = "".join(code.text for code in (tree.code, tree.handler) if code)
        scheduled = tuple(
            ref for ref in (*triggers, *tree.uses)
            if isinstance(self._named(ref), elements.Action) and _is_handed(ref.name, text)
            and all(effect.target.name != ref.name for effect in tree.effects)
        )  # fmt: skip
        named = [*triggers, *tree.uses, *(effect.target for effect in tree.effects)]
        arguments = dict.fromkeys(ref.container or ref.name for ref in named if not self._is_signal(ref))
        first = self._first(named, text)
        deadline = None if tree.deadline is None else self._time(source, tree.deadline)
        if deadline is None and "update_deadline" in text:
            deadline = Time(LONGEST)
        reaction: class_body.Reaction[Any] = class_body.Reaction(
            self._body(name, arguments, tree.code, source, first),
            tuple(SIGNALS[ref.name] if self._is_signal(ref) else self._named(ref) for ref in triggers),
            tuple(self._named(reference) for reference in tree.uses),
            (*(self._effect(effect, source) for effect in tree.effects), *map(self._named, scheduled)),
            deadline,
            nested=True,
        )
        if tree.handler is not None:
            reaction.handler = self._body(f"{name}_deadline", arguments, tree.handler, source, first)
        return reaction

    def _first(self, named: Iterable[syntax.PortReference], text: str) -> list[str]:
        """What a body begins with: views of its inputs, and `gain_y` for what is also called `gain.y`."""
        views = {ref.name: f"{ref.name} = {PORT_VIEW}(self, {ref.name!r}, {ref.name})" for ref in named
                 if ref.container is None and ref.name in self._viewed}  # fmt: skip
        joined = {f"{ref.container}_{ref.name}": f"{ref.container}.{ref.name}" for ref in named if ref.container}
        used = {name: port for name, port in joined.items() if re.search(rf"(?<![\w.]){name}\b", text)}
        return [*views.values(), *(f"{name} = {port}" for name, port in used.items() if name not in self._lines)]

    def _is_signal(self, reference: syntax.PortReference) -> bool:
        return reference.container is None and reference.name in SIGNALS and reference.name not in self.elements

    def _named(self, reference: syntax.PortReference) -> elements.Element | str:
        return str(reference) if reference.container else self.elements.get(reference.name, reference.name)

    def _effect(self, effect: syntax.Effect, source: Source) -> class_body.Effect:
        element = self._named(effect.target)
        if isinstance(element, elements.Mode):
            return elements.Transition(element, history=effect.transition == "history")
        if effect.transition is not None:
            modes = [name for name, element in self.elements.items() if isinstance(element, elements.Mode)]
            words = f"{self.definition.name} has no mode {effect.target.name!r}{hint(effect.target.name, modes)}"
            self.program.fault(source, effect.target.line, words)
        return element

    def _body(
        self, name: str, arguments: Collection[str], code: syntax.Code | None, source: Source, first: Iterable[str]
    ) -> Function:
        names = self.program.names
        if code is None or names is None or any(map(keyword.iskeyword, arguments)):  # which is noted
            return _nothing
        try:
            return function(name, arguments, code, source.path, names, first)
        except BodyError as error:
            self.program.faults.append(str(error))
            return _nothing


def _is_handed(action: str, text: str) -> bool:
    """Whether a body does more with an action than to look at it."""
    return re.search(rf"(?<![\w.]){action}\b(?!\s*\.\s*(value|is_present)\b)", text) is not None


def _nothing(_reactor: object, *ports: object) -> None:
    """A reaction without a body."""
