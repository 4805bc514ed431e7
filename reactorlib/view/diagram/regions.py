"""The regions of a reactor: its modes, and `None` for all that is in no mode. Edges are cut at their borders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from reactorlib.view.diagram.bundle import Strand
from reactorlib.view.diagram.model import Box, PortSymbol, Symbol

Region = str | None


@dataclass
class Content:
    """The content of one region."""

    inputs: dict[str, PortSymbol] = field(default_factory=dict)
    outputs: dict[str, PortSymbol] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    boxes: list[Box] = field(default_factory=list)
    strands: list[Strand] = field(default_factory=list)


class Regions:
    """The regions of one reactor, and the region of everything that an edge can end at."""

    def __init__(self, box_id: str, modes: Iterable[str]) -> None:
        self.box_id = box_id
        self.contents: dict[Region, Content] = {region: Content() for region in (None, *modes)}
        self._places: dict[str, tuple[Region, str]] = {}

    def place(self, end: str, region: Region, name: str) -> None:
        """Register an end of edges. `name` labels the ports where its edges cross a border."""
        self._places[end] = region, name

    def add(self, symbol: Symbol, region: Region) -> None:
        """Add a symbol once."""
        self.contents[region].symbols.setdefault(symbol.id, symbol)
        self.place(symbol.id, region, symbol.title)

    def entry(self, mode: str) -> str:
        """The end of all switches to a mode."""
        end = f"{self.box_id}.{mode}|enter"
        self.contents[mode].inputs.setdefault(end, PortSymbol(end, "", f"enter mode {mode}", crossing=True))
        self.place(end, None, f"to {mode}")
        return end

    def join(self, strand: Strand, region: Region) -> None:
        """Add a strand that lies in a region: in one piece for each region that it passes."""
        if not {strand.source, strand.target} <= self._places.keys():
            return  # a fault of the program
        last = self._places[strand.target][0]
        way = [self._places[strand.source][0]]
        for there in (region, last):
            if there != way[-1]:
                way += [there] if None in (there, way[-1]) else [None, there]
        labelled = len(way) - (1 if last in (region, None) else 2)
        start = strand.source
        for number, here in enumerate(way):
            end = strand.target if number == len(way) - 1 else self._crossing(strand, here, way[number + 1])
            self.contents[here].strands.append(strand.piece(start, end, number == labelled))
            start = end

    def _crossing(self, strand: Strand, here: Region, there: Region) -> str:
        """The port on the border between two regions, of which one is None. Strands to or from one end share it."""
        mode, side, end = (there, "in", strand.source) if here is None else (here, "out", strand.target)
        port = PortSymbol(f"{self.box_id}.{mode}|{side}|{end}", self._places[end][1], crossing=True)
        content = self.contents[mode]
        (content.inputs if side == "in" else content.outputs).setdefault(port.id, port)
        return port.id
