"""A pass over the tokens of a file: it reads the present token, expects one, and notes faults."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, TypeVar

from reactorlib.errors import closest
from reactorlib.lf.tokens import Text, Token

T = TypeVar("T")


class FaultError(Exception):
    """A declaration stops making sense here. The fault is noted already."""


class Cursor:
    """The place in the tokens that a parser has reached."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.tokens, self.faults = text.tokens()
        self.position = 0
        self.token = self.tokens[0]

    def next(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.position += 1
            self.token = self.tokens[self.position]
        return token

    def ahead(self) -> Token:
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def at(self, *texts: str) -> bool:
        return self.token.text in texts and self.token.kind in ("name", "sign")

    def taken(self, *texts: str) -> bool:
        if self.at(*texts):
            self.next()
            return True
        return False

    def expect(self, text: str) -> Token:
        return self.next() if self.at(text) else self.fail(f"{text!r}")

    def of_kind(self, kind: str, what: str) -> Token:
        return self.next() if self.token.kind == kind else self.fail(what)

    def name(self, what: str) -> str:
        return self.of_kind("name", what).text

    @property
    def where(self) -> str:
        return f"{self.text.path}:{self.text.line(self.token.start)}"

    def fail(self, expected: str) -> NoReturn:
        """Note what was expected here, and give up the declaration."""
        got = {"end": "the end of the file", "code": "code"}.get(self.token.kind, f"{self.token.text!r}")
        self.refuse(f"expected {expected}, got {got}")

    def refuse(self, words: str) -> NoReturn:
        """Note a fault at this token, and give up the declaration."""
        self.faults.append(self.text.fault(self.token.start, words))
        raise FaultError

    def several(self, one: Callable[[], T], closing: str | None = None) -> tuple[T, ...]:
        """One or more, separated by commas; with `closing`, any number of them up to it, a comma may end them."""
        found: list[T] = []
        while closing is None or not self.taken(closing):
            found.append(one())
            if not self.taken(","):
                if closing is not None:
                    self.expect(closing)
                break
        return tuple(found)

    def guarded(self, read: Callable[[], None], starters: tuple[str, ...], skipped: str = "") -> None:
        """Read a declaration. After a fault, continue at a line that begins with a starter, or at the closing brace."""
        before = self.position
        with suppress(FaultError):
            return read()
        if self.at(skipped) or (self.position == before and not self.at("}")):
            self.next()
        depth = 0
        while self.token.kind != "end":
            if depth == 0 and (self.at("}") or (self.at(*starters) and self.text.begins_line(self.token))):
                break
            depth += self.at("{") - self.at("}")
            self.next()
        return None

    def meant(self, words: tuple[str, ...]) -> str:
        close = closest(self.token.text, words) if self.token.kind == "name" else None
        return f" (did you mean {close!r}?)" if close else ""

    def word(self, *ends: str) -> str:
        """The text up to a blank or one of the ends."""
        start = end = self.token.start
        while self.token.kind != "end" and self.token.start == end and not self.at(*ends):
            end = self.next().end
        return self.text.text[start:end]
