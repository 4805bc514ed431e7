"""The parts of declarations: values, widths, references to ports, code and types. Types mean nothing to Python."""

from __future__ import annotations

import ast
from typing import Any

from reactorlib import Time
from reactorlib.lf import syntax
from reactorlib.lf.cursor import Cursor
from reactorlib.tag import LONGEST, UNITS

CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
WORDS = {"true": True, "True": True, "false": False, "False": False,
         "forever": Time(LONGEST), "never": Time(-LONGEST - 1)}  # fmt: skip


class Expressions(Cursor):
    """Each method reads what it is named after."""

    def typed(self, what: str) -> str:
        name = self.name(what)
        self.annotation()
        return name

    def annotation(self) -> None:
        if self.taken(":"):
            self.type()

    def code(self) -> syntax.Code:
        token = self.of_kind("code", "a body in {= =}")
        start = token.start + 2
        return syntax.Code(token.text[2:-2], self.text.path, self.text.line(start), self.text.column(start))

    def string(self, what: str) -> str:
        return str(self.text_value()) if self.token.kind == "string" else self.fail(what)

    def text_value(self) -> Any:
        """A text as Python reads it."""
        try:
            value = ast.literal_eval(self.token.text)
        except (SyntaxError, ValueError):
            self.refuse("a text that Python cannot read")
        self.next()
        return value

    def variable(self, what: str) -> syntax.Variable:
        where = self.where
        return syntax.Variable(self.typed(what), self.initializer(), where)

    def initializer(self) -> syntax.Expression | None:
        if self.taken("="):
            return self.expression()
        if not self.at("(", "{"):
            return None
        items = self.several(self.expression, CLOSING[self.next().text])
        return items[0] if len(items) == 1 else syntax.Listing("init", items)

    def width(self) -> syntax.Expression | None:
        if not self.taken("["):
            return None
        terms = [self.width_term()]
        while self.taken("+"):
            terms.append(self.width_term())
        self.expect("]")
        return terms[0] if len(terms) == 1 else syntax.Listing("+", tuple(terms))

    def width_term(self) -> syntax.Expression:
        if self.taken("widthof"):
            self.expect("(")
            port = self.port_reference()
            self.expect(")")
            return syntax.Listing("widthof", (port,))
        if self.at("]"):
            self.fail("a width (one that follows from the connections is not supported)")
        return self.expression()

    def port_reference(self, *around: str) -> syntax.PortReference:
        if self.at(*(around or ("interleaved",))) and self.ahead().text == "(":
            extra = self.next().text
            self.next()
            inner = self.port_reference(*around)
            self.expect(")")
            return inner._replace(extra=extra)
        where = self.where
        name = self.name("a port")
        if self.taken("."):
            return syntax.PortReference(name, self.name("the name of a port"), where)
        return syntax.PortReference(None, name, where)

    def expression(self) -> syntax.Expression:
        token, where = self.token, self.where
        if token.kind == "code":
            return self.code()
        if token.kind == "string":
            return syntax.Literal(self.text_value())
        if token.kind == "number" or self.at("-", "+"):
            return self.number()
        if token.kind == "name":
            self.next()
            if token.text in WORDS:
                return syntax.Literal(WORDS[token.text])
            return syntax.PortReference(None, token.text, where)
        if self.at("(", "[", "{"):
            bracket = self.next().text
            items = self.several(self.expression, CLOSING[bracket])
            return items[0] if bracket == "(" and len(items) == 1 else syntax.Listing(bracket, items)
        return self.fail("a value")

    def number(self) -> syntax.Literal:
        sign = -1 if self.at("-") else 1
        if self.at("-", "+"):
            self.next()
        text = self.of_kind("number", "a number").text
        unit = self.token
        has_unit = unit.kind == "name" and unit.text in UNITS and not self.text.begins_line(unit)
        try:
            is_whole = text.isdecimal() or text[:2] in ("0x", "0X")
            value = sign * (int(text, 10 if text.isdecimal() else 16) if is_whole else float(text))
            return syntax.Literal(UNITS[unit.text] * value if has_unit else value)
        except (ValueError, OverflowError):
            self.refuse("a number that is too large")
        finally:
            if has_unit:
                self.next()

    def type(self) -> None:
        self.taken("&")
        if self.token.kind == "lifetime":  # of Rust
            self.next()
        if self.token.kind in ("code", "string", "number"):
            self.next()
        elif self.at("(", "["):
            self.several(self.type, CLOSING[self.next().text])
        else:
            self.name("a type")
            while self.taken(".", "::"):
                self.name("a name")
            self.type_arguments()
        while self.taken("*", "&", "?"):
            pass
        while self.taken("["):
            if not self.at("]"):
                self.expression()
            self.expect("]")

    def type_arguments(self) -> None:
        if self.taken("<"):
            self.several(self.type, ">")

    def host(self) -> None:
        """The host of a federate: a word without blanks, which has no meaning here."""
        if self.taken("at"):
            self.word(";", "{")
