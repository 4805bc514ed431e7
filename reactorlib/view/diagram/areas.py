"""The areas of a reactor: its modes, and what lies in none of them. Edges are cut at the borders between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from reactorlib.view.diagram.bundle import Strand
from reactorlib.view.diagram.model import Box, Port, Symbol

Region = str | None  # the mode, by name, of the reactor at hand; None: in no mode of it


@dataclass
class Area:
    """What lies in one region, so far."""

    inputs: dict[str, Port] = field(default_factory=dict)
    outputs: dict[str, Port] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    boxes: list[Box] = field(default_factory=list)
    strands: list[Strand] = field(default_factory=list)


class Areas:
    """The areas of one reactor, and where everything that edges can join lies."""

    def __init__(self, box_id: str, modes: Iterable[str]) -> None:
        self._box_id = box_id
        self._areas: dict[Region, Area] = {region: Area() for region in (None, *modes)}
        self._region_of: dict[str, Region] = {}
        self._name_of: dict[str, str] = {}

    def __getitem__(self, region: Region) -> Area:
        return self._areas[region]

    def __contains__(self, item: str) -> bool:
        return item in self._region_of

    def place(self, item: str, region: Region, name: str) -> None:
        """Note where an end of edges lies, and what it is called where an edge to it crosses a border."""
        self._region_of[item] = region
        self._name_of[item] = name

    def symbol(self, symbol: Symbol, region: Region) -> None:
        """Add a symbol."""
        self._areas[region].symbols[symbol.id] = symbol
        self.place(symbol.id, region, symbol.title)

    def entry(self, mode: str) -> str:
        """The end at which switches to a mode arrive."""
        item = f"{self._box_id}.{mode}|enter"
        self._areas[mode].inputs.setdefault(item, Port(item, "", f"enter mode {mode}", crossing=True))
        self.place(item, None, mode)
        return item

    def join(self, strand: Strand, region: Region) -> None:
        """Add an edge that lies in a region, cut where it enters or leaves a mode: no piece crosses a border."""
        start = self._cross(strand.source, strand, self._region_of[strand.source], region, out_of=strand.target)
        end = self._region_of[strand.target]
        if end == region:
            self._add(region, strand.between(start, strand.target))
        elif end is None:
            leaving = self._leave(region, strand.target)
            self._add(region, strand.between(start, leaving, labelled=False))
            self._add(None, strand.between(leaving, strand.target))
        else:
            if region is not None:
                leaving = self._leave(region, strand.target)
                self._add(region, strand.between(start, leaving, labelled=False))
                start = leaving
            entering = self._enter(end, strand.source)
            self._add(None, strand.between(start, entering))
            self._add(end, strand.between(entering, strand.target, labelled=False))

    def _cross(self, end: str, strand: Strand, here: Region, wanted: Region, out_of: str) -> str:
        """Bring the source of an edge into the area in which the edge lies."""
        if here == wanted:
            return end
        if here is not None:
            leaving = self._leave(here, out_of)
            self._add(here, strand.between(end, leaving, labelled=False))
            end = leaving
        if wanted is not None:
            entering = self._enter(wanted, strand.source)
            self._add(None, strand.between(end, entering, labelled=False))
            end = entering
        return end

    def _leave(self, region: Region, target: str) -> str:
        item = f"{self._box_id}.{region}|out|{target}"
        name = f"to {self._name_of[target]}" if target.endswith("|enter") else self._name_of[target]
        self._areas[region].outputs.setdefault(item, Port(item, name, crossing=True))
        return item

    def _enter(self, region: Region, source: str) -> str:
        item = f"{self._box_id}.{region}|in|{source}"
        self._areas[region].inputs.setdefault(item, Port(item, self._name_of[source], crossing=True))
        return item

    def _add(self, region: Region, strand: Strand) -> None:
        self._areas[region].strands.append(strand)
