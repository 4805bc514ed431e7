"""What a diagram shows, before it has a place: boxes in boxes, symbols, ports, edges. Knows no geometry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from reactorlib.errors import ReactorError
from reactorlib.view.diagram.style import WORKERS

SymbolKind = Literal["reaction", "startup", "shutdown", "reset", "timer", "logical action", "physical action"]
EdgeKind = Literal["connection", "delayed", "physical", "trigger", "use", "effect", "transition", "order"]

# Of what has to do with time, what stands before its title in a format without icons.
LETTERS = {"timer": "timer", "logical action": "L", "physical action": "P"}
CONNECTIONS: tuple[EdgeKind, ...] = ("connection", "delayed", "physical")
# Values that arrive at a later tag: a drawing runs from left to right within one tag, and back with these.
LATER: tuple[EdgeKind, ...] = ("delayed", "physical", "transition")


class DiagramError(ReactorError):
    """A diagram cannot be written in the format that was asked for."""


class Port(NamedTuple):
    """A port of a reactor, or the place where an edge crosses the border of a mode (`name` may be empty there)."""

    id: str
    name: str
    tip: str = ""
    crossing: bool = False


class Symbol(NamedTuple):
    """A reaction, timer, action or signal: `title` on its first line, `details` below; `number` of a reaction."""

    id: str
    kind: SymbolKind
    title: str
    details: tuple[str, ...] = ()
    number: str = ""
    tip: str = ""
    cyclic: bool = False

    @property
    def role(self) -> Literal["reaction", "reaction-cyclic", "time", "signal"]:
        """How it is coloured."""
        if self.kind == "reaction":
            return "reaction-cyclic" if self.cyclic else "reaction"
        return "time" if self.kind in LETTERS else "signal"

    @property
    def words(self) -> tuple[str, ...]:
        """Its lines, for formats without icons."""
        before = self.number or LETTERS.get(self.kind, "")
        return f"{before} {self.title}".strip(), *self.details


class Edge(NamedTuple):
    """Every source reaches every target. Ends are ids of symbols and ports; `cyclic`: on a causality cycle."""

    kind: EdgeKind
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    label: str = ""
    cyclic: bool = False

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        return ((source, target) for source in self.sources for target in self.targets)


class Box(NamedTuple):
    """A reactor, a folded bank of them, or a mode, with everything inside."""

    id: str
    kind: Literal["reactor", "mode"]
    title: str
    subtitle: str = ""
    width: int | None = None  # of a folded bank
    notes: tuple[str, ...] = ()
    workers: tuple[int, ...] = ()  # with placement: where its members live
    initial: bool = False  # of a mode
    tip: str = ""
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    boxes: tuple[Box, ...] = ()
    edges: tuple[Edge, ...] = ()

    @property
    def words(self) -> str:
        """Its heading in one line."""
        return " ".join(word for word in (self.title, self.subtitle, *(f"({note})" for note in self.notes)) if word)

    def role(self, depth: int) -> str:
        """How it is coloured, so many boxes deep in the drawing."""
        if len(self.workers) == 1 and depth:
            return f"worker-{self.workers[0] % WORKERS}"
        if self.kind == "mode":
            return "mode-initial" if self.initial else "mode"
        return "surface" if depth == 0 else "box" if depth % 2 else "box-odd"

    def walk(self) -> Iterator[Box]:
        """This box and all within, outermost first."""
        yield self
        for box in self.boxes:
            yield from box.walk()


class Diagram(NamedTuple):
    """A program as it is drawn. `faults` are those that keep it from running."""

    root: Box
    reactors: int
    reactions: int
    faults: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """One sentence, for those who don't see the picture."""
        shown = (
            f"Dataflow of {self.root.title}: {_count(self.reactors, 'reactor')}, {_count(self.reactions, 'reaction')}"
        )
        return shown + (", with a fault that keeps it from running" if self.faults else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
