"""Mermaid of a diagram, for Markdown that renders it: a flowchart with nested subgraphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count

from reactorlib.view.diagram.model import Box, Diagram, Edge
from reactorlib.view.diagram.style import LIGHT

_BRACKETS = {"reaction": (">", "]"), "timer": ("([", "])"), "logical action": ("[/", "\\]"),
             "physical action": ("[/", "\\]")}  # fmt: skip
_CLASSES = {"reaction": "reaction", "reaction-cyclic": "cyclic", "time": "time", "signal": "signal"}


def mermaid_text(diagram: Diagram) -> str:
    """The text of a .mmd file."""
    return "\n".join(_Mermaid().lines(diagram)) + "\n"


class _Mermaid:
    """Gives everything a short name, as those that Mermaid accepts are narrower than paths."""

    def __init__(self) -> None:
        fresh = count()
        self.names: dict[str, str] = defaultdict(lambda: f"n{next(fresh)}")
        self.links = count()
        self.styles: list[str] = []

    def lines(self, diagram: Diagram) -> Iterator[str]:
        yield "flowchart LR"
        yield from (f"  %% fault: {line}" for fault in diagram.faults for line in fault.splitlines())
        yield from self._box(diagram.root, "  ")
        for box in diagram.root.walk():
            for number, edge in enumerate(box.edges):
                yield from self._edge(edge, f"{box.id} bus {number}")
        for role, name in _CLASSES.items():
            look = LIGHT[role]
            yield f"  classDef {name} fill:{look.fill},stroke:{look.line},color:{LIGHT['text'].fill}"
        yield from self.styles

    def _box(self, box: Box, indent: str) -> Iterator[str]:
        yield f"{indent}subgraph {self.names['box ' + box.id]}[{_quoted(box.words)}]"
        inner = indent + "  "
        yield f"{inner}direction LR"
        for port in (*box.inputs, *box.outputs):
            yield f"{inner}{self.names[port.id]}([{_quoted(port.name or 'enter')}])"
        for symbol in box.symbols:
            left, right = _BRACKETS.get(symbol.kind, ("((", "))"))
            words = _quoted("\n".join(symbol.words))
            yield f"{inner}{self.names[symbol.id]}{left}{words}{right}:::{_CLASSES[symbol.role]}"
        for child in box.boxes:
            yield from self._box(child, inner)
        if not (box.inputs or box.outputs or box.symbols or box.boxes):
            yield f"{inner}{self.names['empty ' + box.id]}[{_quoted(' ')}]"
        yield f"{indent}end"

    def _edge(self, edge: Edge, bus: str) -> Iterator[str]:
        if edge.is_bus:
            yield f"  {self.names[bus]}([{_quoted(edge.label or 'all to all')}])"
            yield from (self._link(edge, source, bus, "---", "") for source in edge.sources)
            yield from (self._link(edge, bus, target, "-->", "") for target in edge.targets)
        else:
            arrow = "-.->" if edge.kind in ("effect", "use", "physical") else "-->"
            yield from (self._link(edge, source, target, arrow, edge.label) for source, target in edge.pairs)

    def _link(self, edge: Edge, source: str, target: str, arrow: str, label: str) -> str:
        number = next(self.links)
        if edge.cyclic:
            self.styles.append(f"  linkStyle {number} stroke:{LIGHT['cyclic'].line},stroke-width:3px")
        return f"  {self.names[source]} {arrow}{f'|{_quoted(label)}|' if label else ''} {self.names[target]}"


def _quoted(text: str) -> str:
    for sign, entity in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("\n", "<br>")):
        text = text.replace(sign, entity)
    return f'"{text}"'
