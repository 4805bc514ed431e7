"""From syntax trees to reactor classes: declared elements, reactions, and the blueprint of a constructor.

A class is flat: what its reactor extends is written into it, base reactors first, as Lingua Franca says. Everything
declared lies at its line of the `.lf` file. Reads no file, makes no instance and runs no reaction.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from reactorlib import (
    ElaborationError,
    Input,
    LogicalAction,
    Mode,
    Output,
    PhysicalAction,
    Reactor,
    State,
    Time,
    Timer,
    history,
    reaction,
    reset,
    shutdown,
    startup,
    where,
)
from reactorlib.errors import did_you_mean
from reactorlib.lf import bodies, syntax
from reactorlib.lf.blueprint import Blueprint, Default, Stage
from reactorlib.lf.files import Files
from reactorlib.lf.names import PORT_VIEW, LfLogicalAction, LfPhysicalAction, LinguaFrancaReactor, viewed
from reactorlib.tag import LONGEST

SIGNALS = {"startup": startup, "shutdown": shutdown, "reset": reset}


class LfProgram:
    """All classes that the files of a program define, made when they are asked for, with one module for all bodies."""

    def __init__(self, path: Path, files: Files, module: ModuleType | None) -> None:
        self.path = path
        self.absolute = str(path.absolute())  # a preamble may change the working directory
        self.files = files
        self.module = module  # None: code is left out
        self.names = None if module is None else vars(module)
        self.faults: list[str] = []
        self.classes: dict[str, type[Reactor]] = {}  # that the file itself defines
        self.translations: dict[syntax.ReactorTree, Translation | None] = {}

    def translation(self, reactor: syntax.ReactorTree) -> Translation | None:
        """The translation of a reactor, with its faults noted. None if it contains itself: it is being made then."""
        if reactor not in self.translations:
            self.translations[reactor] = None
            self.translations[reactor] = Translation(self, reactor)
        return self.translations[reactor]

    def make(self) -> None:
        """Make the classes of the file. Raises ElaborationError."""
        made = [self.translation(reactor) for reactor in self.files.main.reactors]
        self.classes = {one.name: one.cls for one in made if one is not None}
        if self.faults:
            raise ElaborationError(list(dict.fromkeys(self.faults)))

    def chosen(self, name: str | None) -> type[Reactor]:
        """The reactor of that name, or the main one. Raises ElaborationError."""
        name = name or next((reactor.name for reactor in self.files.main.reactors if reactor.is_main), None)
        if name is None:
            raise ElaborationError([f"{self.path} has no main reactor: name one of {', '.join(self.classes)}"])
        if name not in self.classes:
            raise ElaborationError([f"{self.path} has no reactor {name!r}{did_you_mean(name, self.classes)}"])
        return self.classes[name]

    def fault(self, place: str, words: str, name: str = "", known: Collection[str] = ()) -> None:
        """Note a fault, and the name that may have been meant."""
        self.faults.append(f"{place}: {words}{did_you_mean(name, known)}")

    @contextmanager
    def noting(self) -> Iterator[None]:
        """A block whose BodyError is noted."""
        try:
            yield
        except bodies.BodyError as error:
            self.faults.append(str(error))


class Translation(Blueprint):
    """One reactor definition and its class, `cls`, made at once; `address` is where another process finds it."""

    def __init__(self, program: LfProgram, reactor: syntax.ReactorTree) -> None:
        super().__init__(reactor.name)
        self.program = program
        self._fault = program.fault
        self.elements: dict[str, Any] = {}
        self.methods: dict[str, Any] = {}  # and the names of the reactor's preambles
        self._file = program.files.file_of(reactor)
        self._mode: Mode | None = None  # that the declaration stands in
        self._places: dict[str, str] = {}  # of all names that are taken
        self._contained: dict[str, Translation | None] = {}
        self._banks: set[str] = set()  # the names of contained reactors with a width
        self._reactions: list[tuple[syntax.ReactionTree, Mode | None]] = []
        self._connections: list[tuple[syntax.ConnectionTree, Mode | None]] = []
        self.properties = {entry.name: entry for entry in self._file.properties}
        module = program.module
        self.address = program.absolute, module.__name__ if module else "", reactor.name, module is None
        self.federated = "federated" in reactor.kinds
        self.cls = self._made(list(self._linear(reactor, ())))

    def _made(self, bases: list[syntax.ReactorTree]) -> type[Reactor]:
        for base in bases:
            self._refuse_repeated(base)
            for parameter in base.parameters:
                self._parameter(parameter)
        for base in bases:
            self._file = self.program.files.file_of(base)
            self._collect(base.members)
        for connection, mode in self._connections:
            self._mode = mode
            self._connect(connection)
        self._inputs = [name for name, element in self.elements.items() if isinstance(element, Input)]
        self._viewed = viewed(self._inputs, syntax.codes(tuple(self._reactions)))
        self.shadowed = {name: value for name, value in self.methods.items() if name in self.elements}
        module = self.program.module
        body = {**self.methods, **self.elements, **self._all_reactions(), "__init__": self.constructor(),
                "__lf__": self, "__module__": __name__ if module is None else module.__name__,
                "__annotations__": dict.fromkeys(self.methods, "Final")}  # fmt: skip  # a preamble's, shared as there
        made: type[Reactor] = type(self.name, (LinguaFrancaReactor,), body)
        return made

    def _linear(
        self, reactor: syntax.ReactorTree, inside: tuple[syntax.ReactorTree, ...]
    ) -> Iterator[syntax.ReactorTree]:
        """The bases of a reactor, each once, before itself."""
        if reactor in inside:
            self._fault(reactor.where, f"{reactor.name} extends itself")
            return
        seen: list[syntax.ReactorTree] = []
        for name in reactor.extends:
            base = self._found(self.program.files.file_of(reactor), name, reactor.where)
            if base is not None:
                seen += [more for more in self._linear(base, (*inside, reactor)) if more not in seen]
        yield from [*seen, reactor]

    def _found(self, file: syntax.File, name: str, place: str) -> syntax.ReactorTree | None:
        found = self.program.files.find(file, name)
        if found is None:
            known = {one.name for one in file.reactors}.union(*(one.names for one in file.imports))
            self._fault(place, f"no reactor {name!r} is defined in this file or imported", name, known)
        return found

    # Expressions

    def _value(self, tree: syntax.Expression | None, *more: str) -> Any:
        """The function of parameters, `bank_index` and `more` that an expression is; its faults are noted."""
        if tree is None:
            return None
        with self.program.noting():
            return bodies.value_of(tree, dict.fromkeys((*self.defaults, "bank_index", *more)), self.program.names)
        return lambda _: None

    def _of_parameters(
        self, tree: syntax.Expression | None, convert: Callable[[Any], Any] = lambda value: value
    ) -> Any:
        """An expression as the kernel takes it: a value, or a function whose arguments are named like parameters."""
        if tree is None or isinstance(tree, syntax.Literal):
            return None if tree is None else tree.value
        found = self._value(tree)

        def evaluated(**scope: Any) -> Any:
            return convert(found(scope))

        names = dict.fromkeys([*self.defaults, "bank_index"])
        kind = inspect.Parameter.KEYWORD_ONLY
        evaluated.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]  # what inspect looks for
        return evaluated

    def _time(self, tree: syntax.Expression | None) -> Any:
        return self._of_parameters(tree, bodies.as_time)

    # Members

    def _refuse_repeated(self, reactor: syntax.ReactorTree) -> None:
        """Note parameters and methods that one definition declares twice. It may redefine those of its bases."""
        methods = [one for one in reactor.members if isinstance(one, syntax.Method) and one.name]
        declared = [(one.name, one.where) for one in reactor.parameters]
        declared += [(f"{one.name}()", f"{one.code.path}:{one.code.line}") for one in methods]
        for name, place, line in syntax.repeated(declared):
            self._fault(place, f"{reactor.name}.{name} is declared in line {line} already")

    def _parameter(self, tree: syntax.Variable) -> None:
        if keyword.iskeyword(tree.name) or tree.name == "self":  # no signature can have it
            self._fault(tree.where, f"{tree.name!r} is a word of Python's and cannot be a name")
            return
        shown = tree.value.value if isinstance(tree.value, syntax.Literal) else ...
        needs = bodies.names_in(tree.value)
        self.defaults[tree.name] = Default(self._value(tree.value, "self"), shown, tree.where, needs)
        self._places[tree.name] = tree.where

    def _collect(self, members: Iterable[syntax.Member]) -> None:
        for member in members:
            if isinstance(member, syntax.Method):
                self._method(member)
            elif isinstance(member, syntax.ReactionTree):
                self._reactions.append((member, self._mode))
            elif isinstance(member, syntax.ConnectionTree):
                self._connections.append((member, self._mode))
            else:
                self._take(member.name, member.where)
                with where(member.where):
                    self._declare(member)

    def _take(self, name: str, place: str) -> None:
        earlier = self._places.get(name, "").rpartition(":")[2]
        if earlier:
            self._fault(place, f"{self.name}.{name} is declared in line {earlier} already")
        elif self.program.module is not None and keyword.iskeyword(name):
            self._fault(place, f"{name!r} is a word of Python's and cannot be a name")
        self._places[name] = place

    def _declare(self, member: syntax.Named) -> None:
        element: Any = None
        if isinstance(member, syntax.Instantiation):
            self._instance(member)
        elif isinstance(member, syntax.ModeTree):
            self._mode = self.elements[member.name] = Mode(initial=member.initial)
            self._collect(member.members)
            self._mode = None
        elif isinstance(member, syntax.Variable):
            name, value = member.name, self._value(member.value or syntax.Literal(None), "self")
            self.states.append(Stage(
                name, lambda making: vars(making.reactor).update({name: value(making.scope)}), None, member.where
            ))  # fmt: skip
            element = State(None, reset=True) if member.reset else None  # to what the constructor leaves
        elif isinstance(member, syntax.PortTree):
            width = self._of_parameters(member.width)
            element = Output(width) if member.output else Input(width, mutable=member.mutable)
        else:
            times, policy = (self._time(member.first), self._time(member.second)), member.policy
            element = KINDS[member.kind](*times) if member.kind == "timer" else KINDS[member.kind](*times, policy)
        if element is not None:
            element.mode = self._mode
            self.elements[member.name] = element

    def _method(self, member: syntax.Method) -> None:
        names = self.program.names
        if names is None:
            return
        with self.program.noting():
            if member.name:
                self.methods[member.name] = bodies.function(member.name, member.arguments, member.code, names)
            else:
                bodies.execute(member.code, names, self.methods)
                self._let_travel(names)

    def _let_travel(self, module: bodies.Names) -> None:
        """Put classes of a preamble where other processes find them: into the module."""
        for name, made in self.methods.items():
            if isinstance(made, type) and (made.__module__, made.__qualname__) == (module["__name__"], name):
                made.__qualname__ = f"{self.name}_{name}"
                module.setdefault(made.__qualname__, made)

    def _instance(self, member: syntax.Instantiation) -> None:
        reactor = self._found(self._file, member.reactor, member.where)
        self._contained[member.name] = None
        if member.width is not None:
            self._banks.add(member.name)
        if reactor is None:
            return
        contained = self._contained[member.name] = self.program.translation(reactor)
        if contained is None:
            self._fault(member.where, f"{reactor.name} contains itself")
            return
        if member.transient:
            words = "a transient federate comes and goes while others run; here one program runs all federates"
            self._fault(member.where, words)
        known = contained.defaults
        arguments: dict[str, bodies.Value] = {}
        for argument in member.arguments:
            if argument.name not in known:
                self._fault(argument.where, f"{reactor.name} has no parameter {argument.name!r}", argument.name, known)
            else:
                arguments[argument.name] = self._value(argument.value, "self")
        width = self._value(member.width, "self")
        name, cls, place = member.name, contained.cls, member.where
        self.parts.append(Stage(name, lambda making: making.contain(name, cls, width, arguments), self._mode, place))

    def _connect(self, tree: syntax.ConnectionTree) -> None:
        found = [self._is_port(reference) for reference in (*tree.sources, *tree.targets)]
        if not all(found):
            return
        if isinstance(tree.after, syntax.Literal) and not isinstance(tree.after.value, Time) and tree.after.value:
            self._fault(tree.where, f"after {tree.after.value}: a time has a unit, such as msec")
        after = self._value(tree.after, "self")
        self.parts.append(Stage("connection", lambda making: making.connect(tree, after), self._mode, tree.where))

    def _is_port(self, reference: syntax.PortReference) -> bool:
        """Whether a connection's end is there; notes what is wrong with it."""
        of: Translation | None = self
        if reference.container is not None:
            if reference.container not in self._contained:
                words = f"{self.name} contains no reactor {reference.container!r}"
                self._fault(reference.where, words, reference.container, self._contained)
            of = self._contained.get(reference.container)
        if of is None:
            return False  # which is noted
        ports = [name for name, element in of.elements.items() if isinstance(element, Input | Output)]
        if reference.name not in ports:
            self._fault(reference.where, f"{of.name} has no port {reference.name!r}", reference.name, ports)
        return reference.name in ports

    # Reactions

    def _all_reactions(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number, (tree, mode) in enumerate(self._reactions, 1):
            name = tree.name or f"reaction_{number}"
            while name in self._places or name in self.methods or name in found:
                name += "_"
            with where(tree.where):
                found[name] = self._reaction(name, tree)
            found[name].mode = mode
        return found

    def _reaction(self, name: str, tree: syntax.ReactionTree) -> Any:
        inputs = (syntax.PortReference(None, name, tree.where) for name in self._inputs)
        triggers = tree.triggers or tuple(inputs)  # none: any input
        text = "\n".join(code.text for code in (tree.code, tree.handler) if code)
        effects = {ref.name for ref in tree.effects}
        readable = [ref for ref in (*triggers, *tree.uses) if ref.name not in effects]
        scheduled = [ref for ref in readable if self._is_scheduled(ref, text)]
        named = [ref for ref in (*triggers, *tree.uses, *tree.effects) if not self._is_signal(ref)]
        arguments, first = dict.fromkeys(ref.container or ref.name for ref in named), self._first(named, text)
        deadline = Time(LONGEST) if "update_deadline" in text and tree.deadline is None else self._time(tree.deadline)
        declare = reaction(
            *(SIGNALS[ref.name] if self._is_signal(ref) else self._named(ref) for ref in triggers),
            uses=tuple(self._named(ref) for ref in tree.uses),
            effects=tuple(self._effect(ref) for ref in (*tree.effects, *scheduled)),
            deadline=deadline,
            nested=True,
        )
        made = declare(self._body(name, arguments, tree.code, first))
        if tree.handler is not None:
            made.missed(self._body(f"{name}_deadline", arguments, tree.handler, first))
        return made

    def _is_scheduled(self, reference: syntax.PortReference, text: str) -> bool:
        """Whether a body does more with an action than look at it."""
        seen = rf"(?<![\w.]){reference.name}\b(?!\s*\.\s*(value|is_present)\b)"
        return isinstance(self._named(reference), LogicalAction | PhysicalAction) and re.search(seen, text) is not None

    def _first(self, named: Iterable[syntax.PortReference], text: str) -> list[str]:
        """The first lines of a body: views of its inputs, and `gain_y` for what is also called `gain.y`."""
        views = {ref.name: f"{ref.name} = {PORT_VIEW}(self, {ref.name!r}, {ref.name})" for ref in named
                 if ref.container is None and ref.name in self._viewed}  # fmt: skip
        single = [ref for ref in named if ref.container and ref.container not in self._banks]
        joined = {f"{ref.container}_{ref.name}": str(ref) for ref in single}
        used = {name: port for name, port in joined.items() if re.search(rf"(?<![\w.]){name}\b", text)}
        return [*views.values(), *(f"{name} = {port}" for name, port in used.items() if name not in self._places)]

    def _is_signal(self, reference: syntax.PortReference) -> bool:
        return reference.container is None and reference.name in SIGNALS and reference.name not in self.elements

    def _named(self, reference: syntax.PortReference) -> Any:
        return str(reference) if reference.container else self.elements.get(reference.name, reference.name)

    def _effect(self, reference: syntax.PortReference) -> Any:
        element = self._named(reference)
        if isinstance(element, Mode):
            return history(element) if reference.extra == "history" else element
        if reference.extra:
            modes = [name for name, element in self.elements.items() if isinstance(element, Mode)]
            self._fault(reference.where, f"{self.name} has no mode {reference.name!r}", reference.name, modes)
        return element

    def _body(
        self, name: str, arguments: Collection[str], code: syntax.Code | None, first: Collection[str]
    ) -> bodies.Function:
        names = self.program.names
        if code is not None and names is not None and not any(map(keyword.iskeyword, arguments)):  # which is noted
            with self.program.noting():
                made = bodies.function(name, arguments, code, names, first)
                if not inspect.isgeneratorfunction(made):
                    return made
                self._fault(f"{code.path}:{code.line}", "a reaction with yield is a generator, which never runs")
        return lambda _reactor, *_ports: None  # a body that was left out


KINDS: dict[str, Any] = {
    "timer": Timer,
    "logical": LfLogicalAction,
    "physical": LfPhysicalAction,
}
