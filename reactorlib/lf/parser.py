"""The grammar of Lingua Franca, by recursive descent: from text to syntax tree, with every fault of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reactorlib import ElaborationError
from reactorlib.lf import syntax
from reactorlib.lf.cursor import FaultError
from reactorlib.lf.expressions import WORDS, Expressions
from reactorlib.lf.tokens import Text

HANDLERS = ("deadline", "STP", "STAA", "tardy", "maxwait")
PATH_ENDS = (",", ":", "[", "]", "{", "}", ";")
MOST_FAULTS = 10
NOTHING = syntax.Literal(0)


def parse(text: str, path: str) -> syntax.File:
    """The syntax tree of a file. Raises ElaborationError with every fault found."""
    parser = _FileParser(Text(text, path))
    try:
        file = None if parser.faults else parser.file()
    except (FaultError, RecursionError) as error:
        file = None
        if isinstance(error, RecursionError):
            parser.faults.append(parser.text.fault(parser.token.start, "what stands here is nested too deeply"))
    if parser.faults or file is None:
        raise ElaborationError(parser.faults)
    return file


class _FileParser(Expressions):
    """The declarations of files, reactors and modes. Each method reads what it is named after."""

    def file(self) -> syntax.File:
        self.expect("target")
        target = self.name("the name of the target, such as Python")
        properties = self.properties() if self.taken("{") else ()
        self.taken(";")
        file = syntax.File(self.text.path, target, properties, [], [], [])
        while self.token.kind != "end" and len(self.faults) < MOST_FAULTS:
            self.guarded(lambda: self.declaration(file), FILE_STARTERS, "}")
        return file

    def declaration(self, file: syntax.File) -> None:
        if self.at("import"):
            file.imports.append(self.import_())
        elif self.at("preamble", "private", "public"):
            file.preambles.append(self.preamble())
        elif self.at(*FILE_STARTERS):
            file.reactors.append(self.reactor())
        else:
            self.fail("import, preamble or reactor" + self.meant(FILE_STARTERS))

    def properties(self) -> tuple[syntax.Property, ...]:
        """Up to the closing brace, separated by commas or, in older programs, by the ends of lines."""
        found: list[syntax.Property] = []
        while not self.taken("}"):
            where = self.where
            key = str(self.text_value()) if self.token.kind == "string" else self.path("a property")
            self.expect(":")
            found.append(syntax.Property(key, self.property_value(), where))
            if not self.taken(",") and not self.text.begins_line(self.token):
                self.expect("}")
                break
        return tuple(found)

    def path(self, what: str) -> str:
        """A name that may contain dashes, dots and slashes."""
        if not self.at(".", "/") and self.token.kind != "name":
            self.fail(what)
        return self.word(*PATH_ENDS)

    def property_value(self) -> Any:
        if self.taken("["):
            return list(self.several(self.property_value, "]"))
        if self.taken("{"):
            return {entry.name: entry.value for entry in self.properties()}
        if self.token.kind == "name" or self.at(".", "/"):
            word = self.path("a value")
            return WORDS.get(word, word)
        value = self.expression()
        return value.value if isinstance(value, syntax.Literal) else self.fail("a value")

    def import_(self) -> syntax.Import:
        where = self.where
        self.expect("import")
        imported = self.several(self.imported)
        names = dict(imported)
        if len(names) < len(imported):
            self.refuse("a name that is imported twice")
        self.expect("from")
        package = self.taken("<")
        if package:
            path = self.word(">") or self.fail("a package in < >")
            self.expect(">")
        else:
            path = self.string("the file to import from, in quotation marks, or a package's in < >")
        self.taken(";")
        return syntax.Import(names, path, package, where)

    def imported(self) -> tuple[str, str]:
        name = self.name("the name of a reactor")
        return (self.name("a name") if self.taken("as") else name), name

    def preamble(self) -> syntax.Method:
        self.taken("private", "public")
        self.expect("preamble")
        code = self.code()
        self.taken(";")
        return syntax.Method("", (), code)

    def attributes(self) -> set[str]:
        """The names of attributes, whose arguments are read over."""
        found: set[str] = set()
        while self.taken("@"):
            found.add(self.name("the name of an attribute"))
            if self.taken("("):
                self.several(self.attribute, ")")
        return found

    def attribute(self) -> None:
        if self.token.kind == "name" and self.ahead().text == "=":
            self.next()
            self.next()
        self.expression()

    def reactor(self) -> syntax.ReactorTree:
        self.attributes()
        where, kinds = self.where, set()
        while self.at("main", "federated", "realtime"):
            kinds.add(self.next().text)
        self.expect("reactor")
        name = self.next().text if self.token.kind == "name" and not self.at("extends", "at") else ""
        if not name:
            name = Path(self.text.path).stem if kinds & {"main", "federated"} else self.fail("the name of the reactor")
        self.type_arguments()
        parameters = self.several(self.parameter, ")") if self.taken("(") else ()
        self.host()
        extends = self.several(lambda: self.name("the name of a reactor")) if self.taken("extends") else ()
        members = self.members(True)
        return syntax.ReactorTree(name, frozenset(kinds), parameters, extends, members, self.text.path, where)

    def members(self, modal: bool) -> tuple[syntax.Member, ...]:
        """The members in the braces of a reactor or a mode."""
        self.expect("{")
        found: list[syntax.Member] = []
        while not self.taken("}"):
            if self.token.kind == "end" or len(self.faults) >= MOST_FAULTS:
                self.fail("'}'")
            self.guarded(lambda: found.append(self.member(modal)), STARTERS)
            self.taken(";")
        return tuple(found)

    def member(self, modal: bool) -> syntax.Member:
        transient = "transient" in self.attributes()
        word, after = self.token.text if self.token.kind == "name" else "", self.ahead().text
        if word and after == "=":
            return self.instantiation(transient)
        if self.at("(", "interleaved") or (word and after in (".", ",", "->", "~>")):
            return self.connection()
        read = MEMBERS.get(word)
        if read is None:
            self.fail("a declaration such as input, state or reaction, a connection or '}'" + self.meant(STARTERS))
        if not modal and read in OUTSIDE_MODES:
            self.refuse(f"{word!r} cannot stand in a mode")
        return read(self)

    def parameter(self) -> syntax.Variable:
        self.attributes()
        return self.variable("the name of a parameter")

    def state(self) -> syntax.Variable:
        reset = self.taken("reset")
        self.expect("state")
        return self.variable("the name of a state variable")._replace(reset=reset)

    def method(self) -> syntax.Method:
        self.taken("const")
        self.expect("method")
        name = self.name("the name of the method")
        self.expect("(")
        arguments = self.several(self.parameter, ")")
        self.annotation()
        return syntax.Method(name, tuple(argument.name for argument in arguments), self.code())

    def port(self) -> syntax.PortTree:
        where = self.where
        mutable = self.taken("mutable")
        output = (not mutable and self.taken("output")) or not self.expect("input")
        width = self.width()
        return syntax.PortTree(self.typed("the name of the port"), output, mutable, width, where)

    def timer(self) -> syntax.TriggerTree:
        where = self.where
        self.expect("timer")
        name = self.name("the name of the timer")
        times = self.several(self.expression, ")") if self.taken("(") else ()
        if len(times) > 2:
            self.refuse("a timer has an offset and a period, and no more")
        self.annotation()
        offset, period = (*times, NOTHING, NOTHING)[:2]
        return syntax.TriggerTree(name, "timer", offset, period, None, where)

    def action(self) -> syntax.TriggerTree:
        where = self.where
        kind = self.next().text if self.at("physical", "logical") else "logical"
        self.expect("action")
        name = self.name("the name of the action")
        delay: syntax.Expression = NOTHING
        spacing: syntax.Expression | None = None
        policy = None
        if self.taken("("):
            if not self.at(")"):
                delay = self.expression()
            if self.taken(","):
                spacing = self.expression()
            if self.taken(","):
                policy = self.string("the policy, in quotation marks")
            self.expect(")")
        self.annotation()
        return syntax.TriggerTree(name, kind, delay, spacing, policy, where)

    def mode(self) -> syntax.ModeTree:
        where = self.where
        initial = self.taken("initial")
        self.expect("mode")
        return syntax.ModeTree(self.name("the name of the mode"), initial, self.members(False), where)

    def instantiation(self, transient: bool) -> syntax.Instantiation:
        where = self.where
        name = self.name("a name")
        self.expect("=")
        self.expect("new")
        width = self.width()
        reactor = self.name("the name of a reactor")
        self.type_arguments()
        self.expect("(")
        arguments = self.several(self.argument, ")")
        self.host()
        return syntax.Instantiation(name, reactor, width, arguments, where, transient)

    def argument(self) -> syntax.Variable:
        argument = self.variable("the name of a parameter")
        return self.fail("'=' and the value") if argument.value is None else argument

    def reaction(self) -> syntax.ReactionTree:
        where = self.where
        if self.at("mutation", "watchdog"):
            self.refuse("mutations are not supported, and watchdogs exist in Lingua Franca's C target only")
        self.expect("reaction")
        name = self.name("the name of the reaction") if self.token.kind == "name" and self.ahead().text == "(" else None
        triggers = self.several(self.port_reference, ")") if self.taken("(") else ()
        uses = self.several(self.port_reference) if self.begins_reference() else ()
        effects = self.several(lambda: self.port_reference("reset", "history")) if self.taken("->") else ()
        if self.taken("named"):
            name = self.name("the name of the reaction")
        code = self.code() if self.token.kind == "code" else None
        deadline, handler = self.handlers()
        return syntax.ReactionTree(name, triggers, uses, effects, code, deadline, handler, where)

    def begins_reference(self) -> bool:
        """Whether what a reaction reads follows, and not the next declaration after a reaction without a body."""
        word, after = self.token.text, self.ahead().text
        reserved = word in ("named", *HANDLERS) or (word in STARTERS and after != ".")
        return self.token.kind == "name" and not reserved and after != "="

    def handlers(self) -> tuple[syntax.Expression | None, syntax.Code | None]:
        """The deadline and its handler; what only decentralized coordination calls is read over."""
        deadline, handler = None, None
        kinds: set[str] = set()
        while self.at(*HANDLERS):
            if self.token.text in kinds:
                self.refuse(f"a reaction has one {self.token.text}")
            kind = self.next().text
            kinds.add(kind)
            times = self.several(self.expression, ")") if self.taken("(") else ()
            if len(times) > 1:
                self.refuse(f"a {kind} has one time")
            code = self.code() if self.token.kind == "code" else None
            if kind == "deadline":
                deadline, handler = next(iter(times), None), code
        return deadline, handler

    def connection(self) -> syntax.ConnectionTree:
        where = self.where
        grouped = self.taken("(")
        sources = self.several(self.port_reference, ")" if grouped else None)
        iterated = grouped and self.taken("+")
        physical = self.taken("~>")
        if not physical and not self.taken("->"):
            self.fail("'->' or '~>'")
        targets = self.several(self.port_reference)
        after = self.expression() if self.taken("after") else None
        if self.taken("serializer"):
            self.string("the serializer, in quotation marks")
        return syntax.ConnectionTree(sources, targets, iterated, physical, after, where)


MEMBERS: dict[str, Callable[[_FileParser], syntax.Member]] = {
    **dict.fromkeys(("preamble", "private", "public"), _FileParser.preamble),
    **dict.fromkeys(("state", "reset"), _FileParser.state),
    **dict.fromkeys(("method", "const"), _FileParser.method),
    **dict.fromkeys(("input", "output", "mutable"), _FileParser.port),
    **dict.fromkeys(("timer",), _FileParser.timer),
    **dict.fromkeys(("action", "logical", "physical"), _FileParser.action),
    **dict.fromkeys(("reaction", "mutation", "watchdog"), _FileParser.reaction),
    **dict.fromkeys(("mode", "initial"), _FileParser.mode),
}
STARTERS = tuple(MEMBERS)
OUTSIDE_MODES = (_FileParser.preamble, _FileParser.method, _FileParser.port, _FileParser.mode)
FILE_STARTERS = ("reactor", "main", "federated", "realtime", "import", "preamble", "private", "public", "@")
