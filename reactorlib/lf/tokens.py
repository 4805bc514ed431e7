"""The text of a Lingua Franca file as tokens, and places in it: lines, columns, the line's text. Knows no grammar."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

# A `#` comment that ends with `=}` ends the body before these words of handlers, members and definitions.
_NEXT = """deadline STP STAA tardy maxwait preamble private public state reset method const input output mutable timer
    action logical physical reaction mutation watchdog mode initial reactor main federated realtime import"""
_PATTERN = re.compile(
    r"""
      (?P<blank>(?:[ \t\r\n\f\ufeff]|//[^\n]*|\#[^\n]*|/\*(?s:.)*?\*/|\'{3}(?s:.)*?\'{3})+)
    | (?P<code>\{=(?>(?:                                 # texts and comments do not end a body
        \"{3}(?s:\\.|[^\\])*?\"{3}|\'{3}(?s:\\.|[^\\])*?\'{3}|"(?:\\(?s:.)|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'
        |\#(?:(?!=\}[ \t;]*(?:[\n}@\#]|$|//|/\*|(?:NEXT)\b))[^\n])*  # but for one that ends with it
        |(?!=\})(?s:.))*)=\}
      |\{=(?s:.)*?=\})
    | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
    | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<string>\"{3}(?s:\\.|[^\\])*?\"{3}|"(?:\\(?s:.)|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<lifetime>'[A-Za-z_][A-Za-z_0-9]*)
    | (?P<sign>->|~>|::|\{(?!=)|/(?!\*)|[-+*&|!?=<>()\[\]},;:.@])
    """.replace("NEXT", "|".join(_NEXT.split())),
    re.VERBOSE,
)
UNCLOSED = {
    "{=": "a body that begins with {= and does not end with =}",
    "'''": "a comment that begins with ''' and does not end with '''",
    "/*": "a comment that begins with /* and does not end with */",
    '"': "a text whose closing quotation mark is missing",
    "'": "a text whose closing quotation mark is missing",
}


class Token(NamedTuple):
    """One token: its kind (name, number, string, code, lifetime, sign or end), its text, where it begins and ends."""

    kind: str
    text: str
    start: int
    end: int


class Text:
    """A file's text and path: offsets become lines, columns and faults."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return bisect_right(self._starts, offset)

    def column(self, offset: int) -> int:
        """The column of an offset, from 0."""
        return offset - self._starts[self.line(offset) - 1]

    def begins_line(self, token: Token) -> bool:
        """Whether nothing but blanks stands before a token on its line."""
        return not self.text[self._starts[self.line(token.start) - 1] : token.start].strip()

    def fault(self, offset: int, message: str) -> str:
        """A fault with its place, the line's text and a mark below the column."""
        line = self.line(offset)
        return fault(self.path, line, self.column(offset), self.text.split("\n")[line - 1], message)

    def tokens(self) -> tuple[list[Token], list[str]]:
        """All tokens, the last of kind `end`. Other text is noted as faults."""
        found: list[Token] = []
        faults: list[str] = []
        offset, text = 0, self.text
        while offset < len(text):
            match = _PATTERN.match(text, offset)
            if match is None:
                opened = next((opening for opening in UNCLOSED if text.startswith(opening, offset)), None)
                what = f"a character that means nothing here: {text[offset]!r}"
                faults.append(self.fault(offset, UNCLOSED[opened] if opened else what))
                if opened in ("{=", "/*", "'''"):
                    break  # it swallows the rest
                offset += 1
                continue
            if match.lastgroup != "blank":
                found.append(Token(match.lastgroup or "", match[0], offset, match.end()))
            offset = match.end()
        end = len(text.rstrip())
        found.append(Token("end", "", end, end))
        return found, faults


def fault(path: str, line: int, column: int | None, text: str, message: str) -> str:
    """A fault as all are shown: place, message, the line's text and a mark under its column (from 0)."""
    if column is None:
        return f"{path}:{line}: {message}" + (f"\n    {text.strip()}" if text.strip() else "")
    blank = "".join("\t" if character == "\t" else " " for character in text[:column])
    shown = f"\n    {text.rstrip()}\n    {blank}^" if text.strip() else ""
    return f"{path}:{line}:{column + 1}: {message}{shown}"
