"""DOT of a diagram, for Graphviz: clusters in clusters, with the words and colours of the SVG."""

from __future__ import annotations

from collections.abc import Iterator

from reactorlib.view.diagram.model import Box, Diagram, Edge
from reactorlib.view.diagram.style import LIGHT

_SHAPES = {"reaction": "cds", "timer": "box", "logical action": "box", "physical action": "box"}
_START = """digraph reactors {
  rankdir=LR; compound=true; bgcolor=white;
  node [fontname="Helvetica", fontsize=11]; edge [fontname="Helvetica", fontsize=9, arrowsize=0.6];
  graph [fontname="Helvetica", fontsize=12, labeljust=l, style=rounded];"""


def dot_text(diagram: Diagram) -> str:
    """The text of a .dot file."""
    faults = (f"  // fault: {line}" for fault in diagram.faults for line in fault.splitlines())
    return "\n".join([_START, *faults, *_box(diagram.root, "  ", 0), "}"]) + "\n"


def _box(box: Box, indent: str, depth: int) -> Iterator[str]:
    look = LIGHT[box.role(depth)]
    folded = 2 if box.width is not None and box.width > 1 else 1
    yield f"{indent}subgraph {_quoted('cluster ' + box.id)} {{"
    inner = indent + "  "
    yield (
        f'{inner}label={_quoted(box.words)}; style="rounded,filled"; fillcolor="{look.fill}"; color="{look.line}"; '
        f"penwidth={2.2 if box.initial else 1}; peripheries={folded};"
    )
    for port in (*box.inputs, *box.outputs):
        yield f"{inner}{_quoted(port.id)} [shape=plain, label={_quoted(('▶ ' + port.name).strip())}];"
    for symbol in box.symbols:
        look = LIGHT[symbol.role]
        shape, words = _SHAPES.get(symbol.kind, "oval"), _quoted("\n".join(symbol.words))
        yield (
            f"{inner}{_quoted(symbol.id)} [shape={shape}, style=filled, label={words}, "
            f'fillcolor="{look.fill}", color="{look.line}"];'
        )
    for child in box.boxes:
        yield from _box(child, inner, depth + 1)
    for number, edge in enumerate(box.edges):
        yield from (inner + line for line in _edge(edge, _quoted(f"{box.id} bus {number}")))
    yield f"{indent}}}"


def _edge(edge: Edge, bus: str) -> Iterator[str]:
    look = LIGHT["cyclic" if edge.cyclic else edge.kind]
    style = {"effect": ", style=dashed", "physical": ", style=dashed", "use": ", style=dotted"}.get(edge.kind, "")
    plain = f'color="{look.line}", penwidth={look.width}{style}'
    if edge.is_bus:
        yield f"{bus} [shape=point, xlabel={_quoted(edge.label)}];"
        yield from (f"{_quoted(source)} -> {bus} [{plain}, arrowhead=none];" for source in edge.sources)
        yield from (f"{bus} -> {_quoted(target)} [{plain}];" for target in edge.targets)
    else:
        label = f", label={_quoted(edge.label)}" if edge.label else ""
        yield from (f"{_quoted(source)} -> {_quoted(target)} [{plain}{label}];" for source, target in edge.pairs)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
