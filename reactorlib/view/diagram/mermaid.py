"""Mermaid of a diagram, for Markdown that renders it: a flowchart with nested subgraphs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from reactorlib.view.diagram.model import Box, Diagram, Edge, Symbol
from reactorlib.view.diagram.style import LIGHT

_BRACKETS = {"reaction": (">", "]"), "timer": ("([", "])"), "logical action": ("[/", "\\]"),
             "physical action": ("[/", "\\]")}  # fmt: skip
_CLASSES = {"reaction": "reaction", "reaction-cyclic": "cyclic", "time": "time", "signal": "signal"}


def mermaid_text(diagram: Diagram) -> str:
    """The text of a .mmd file."""
    return "\n".join(_Writer(diagram).lines()) + "\n"


class _Writer:
    """Gives everything a short name: Mermaid's own are narrower than paths."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.names: dict[str, str] = {}
        self.fresh = count()
        self.links = count()
        self.styles: list[str] = []

    def lines(self) -> Iterator[str]:
        yield "flowchart LR"
        for fault in self.diagram.faults:
            yield from (f"  %% fault: {line}" for line in fault.splitlines())
        yield from self._box(self.diagram.root, "  ")
        for box in self.diagram.root.walk():
            for edge in box.edges:
                yield from self._edge(edge)
        for role, name in _CLASSES.items():
            look = LIGHT[role]
            yield f"  classDef {name} fill:{look.fill},stroke:{look.line},color:{LIGHT['text'].fill}"
        yield from self.styles

    def _name(self, item: str) -> str:
        if item not in self.names:
            self.names[item] = f"n{next(self.fresh)}"
        return self.names[item]

    def _box(self, box: Box, indent: str) -> Iterator[str]:
        yield f"{indent}subgraph {self._name('box ' + box.id)}[{_quoted(box.words)}]"
        inner = indent + "  "
        yield f"{inner}direction LR"
        for port in (*box.inputs, *box.outputs):
            yield f"{inner}{self._name(port.id)}([{_quoted(port.name or 'enter')}])"
        for symbol in box.symbols:
            yield inner + self._symbol(symbol)
        for child in box.boxes:
            yield from self._box(child, inner)
        if not (box.inputs or box.outputs or box.symbols or box.boxes):
            yield f"{inner}{self._name('empty ' + box.id)}[{_quoted(' ')}]"
        yield f"{indent}end"

    def _symbol(self, symbol: Symbol) -> str:
        left, right = _BRACKETS.get(symbol.kind, ("((", "))"))
        words = "<br>".join(_escaped(line) for line in symbol.words)
        return f'{self._name(symbol.id)}{left}"{words}"{right}:::{_CLASSES[symbol.role]}'

    def _edge(self, edge: Edge) -> Iterator[str]:
        if len(edge.sources) > 1 and len(edge.targets) > 1:
            bus = f"n{next(self.fresh)}"
            yield f"  {bus}([{_quoted(edge.label or 'all to all')}])"
            for source in edge.sources:
                yield self._link(edge, self._name(source), bus, "---", "")
            for target in edge.targets:
                yield self._link(edge, bus, self._name(target), "-->", "")
            return
        arrow = "-.->" if edge.kind in ("effect", "use", "physical") else "-->"
        for source, target in edge.pairs:
            yield self._link(edge, self._name(source), self._name(target), arrow, edge.label)

    def _link(self, edge: Edge, source: str, target: str, arrow: str, label: str) -> str:
        number = next(self.links)
        if edge.cyclic:
            self.styles.append(f"  linkStyle {number} stroke:{LIGHT['cyclic'].line},stroke-width:3px")
        return f"  {source} {arrow}{f'|{_quoted(label)}|' if label else ''} {target}"


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    for character, entity in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;")):
        text = text.replace(character, entity)
    return text
