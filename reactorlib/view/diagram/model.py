"""A diagram before its layout: nested boxes with ports, symbols and edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from reactorlib.view.diagram.style import WORKERS

SymbolKind = Literal["reaction", "startup", "shutdown", "reset", "timer", "logical action", "physical action"]
EdgeKind = Literal["connection", "delayed", "physical", "trigger", "use", "effect", "transition", "order"]

LETTERS = {"timer": "timer", "logical action": "L", "physical action": "P"}  # stand for icons in formats without
CONNECTIONS: tuple[EdgeKind, ...] = ("connection", "delayed", "physical")
LATER: tuple[EdgeKind, ...] = ("delayed", "physical", "transition")  # take effect at a later tag


class PortSymbol(NamedTuple):
    """A port of a reactor, or (`crossing`) the place where an edge crosses the border of a mode."""

    id: str
    name: str
    tip: str = ""
    crossing: bool = False


class Symbol(NamedTuple):
    """A reaction, timer, action or signal: `title` is its first line, `details` are the others."""

    id: str
    kind: SymbolKind
    title: str
    details: tuple[str, ...] = ()
    number: str = ""  # of a reaction
    tip: str = ""
    cyclic: bool = False

    @property
    def role(self) -> Literal["reaction", "reaction-cyclic", "time", "signal"]:
        """The key of its colours."""
        if self.kind == "reaction":
            return "reaction-cyclic" if self.cyclic else "reaction"
        return "time" if self.kind in LETTERS else "signal"

    @property
    def words(self) -> tuple[str, ...]:
        """Its lines, for formats without icons."""
        return f"{self.number or LETTERS.get(self.kind, '')} {self.title}".strip(), *self.details


class Edge(NamedTuple):
    """An edge from every source to every target, by ids of symbols and ports. `cyclic`: on a causality cycle."""

    kind: EdgeKind
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    label: str = ""
    cyclic: bool = False

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        return ((source, target) for source in self.sources for target in self.targets)

    @property
    def is_bus(self) -> bool:
        """Whether several sources meet on the way to several targets."""
        return len(self.sources) > 1 and len(self.targets) > 1

    @property
    def role(self) -> str:
        """The key of its colours."""
        if self.cyclic:
            return "cyclic-order" if self.kind == "order" else "cyclic"
        return self.kind


class Box(NamedTuple):
    """A reactor, a folded bank of `width` reactors, or a mode."""

    id: str
    kind: Literal["reactor", "mode"]
    title: str
    subtitle: str = ""
    width: int | None = None
    notes: tuple[str, ...] = ()
    workers: tuple[int, ...] = ()  # where its reactors run, if that is to be shown
    initial: bool = False  # of a mode
    tip: str = ""
    inputs: tuple[PortSymbol, ...] = ()
    outputs: tuple[PortSymbol, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    boxes: tuple[Box, ...] = ()
    edges: tuple[Edge, ...] = ()

    @property
    def words(self) -> str:
        """Its heading in one line."""
        return " ".join(word for word in (self.title, self.subtitle, *(f"({note})" for note in self.notes)) if word)

    def role(self, depth: int) -> str:
        """The key of its colours at this depth of nesting."""
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
    """A program to draw. `faults` keep it from running."""

    root: Box
    reactors: int
    reactions: int
    faults: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """One sentence in place of the picture."""
        counts = ((self.reactors, "reactor"), (self.reactions, "reaction"))
        sizes = ", ".join(f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counts)
        fault = ", with a fault that keeps it from running" if self.faults else ""
        return f"Dataflow of {self.root.title}: {sizes}{fault}"
