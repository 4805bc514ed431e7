"""DOT of a diagram, for Graphviz: clusters in clusters, the same words and colours as the SVG."""

from __future__ import annotations

from collections.abc import Iterator

from reactorlib.view.diagram.model import Box, Diagram, Edge, Port, Symbol
from reactorlib.view.diagram.style import LIGHT

_SHAPES = {"reaction": "cds", "timer": "box", "logical action": "box", "physical action": "box"}


def dot_text(diagram: Diagram) -> str:
    """The text of a .dot file."""
    lines = [
        "digraph reactors {",
        "  rankdir=LR; compound=true; bgcolor=white;",
        '  node [fontname="Helvetica", fontsize=11]; edge [fontname="Helvetica", fontsize=9, arrowsize=0.6];',
        '  graph [fontname="Helvetica", fontsize=12, labeljust=l, style=rounded];',
        *(f"  // fault: {line}" for fault in diagram.faults for line in fault.splitlines()),
        *_box(diagram.root, "  ", 0),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _box(box: Box, indent: str, depth: int) -> Iterator[str]:
    fill = LIGHT[box.role(depth)]
    folded = 2 if box.width is not None and box.width > 1 else 1
    yield f"{indent}subgraph {_quoted('cluster ' + box.id)} {{"
    inner = indent + "  "
    yield (
        f'{inner}label={_quoted(box.words)}; style="rounded,filled"; fillcolor="{fill.fill}"; color="{fill.line}"; '
        f"penwidth={2.2 if box.initial else 1}; peripheries={folded};"
    )
    for port in (*box.inputs, *box.outputs):
        yield inner + _port(port)
    for symbol in box.symbols:
        yield inner + _symbol(symbol)
    for child in box.boxes:
        yield from _box(child, inner, depth + 1)
    for number, edge in enumerate(box.edges):
        for line in _edge(edge, f"{box.id} bus {number}"):
            yield inner + line
    yield f"{indent}}}"


def _port(port: Port) -> str:
    return f"{_quoted(port.id)} [shape=plain, label={_quoted(('▶ ' + port.name).strip())}];"


def _symbol(symbol: Symbol) -> str:
    style = LIGHT[symbol.role]
    words = "\n".join(symbol.words)
    return (
        f"{_quoted(symbol.id)} [shape={_SHAPES.get(symbol.kind, 'oval')}, style=filled, label={_quoted(words)}, "
        f'fillcolor="{style.fill}", color="{style.line}"];'
    )


def _edge(edge: Edge, bus: str) -> Iterator[str]:
    look = LIGHT["cyclic" if edge.cyclic else edge.kind]
    attributes = [f'color="{look.line}"', f"penwidth={look.width}"]
    if edge.kind in ("effect", "use", "physical"):
        attributes.append(f"style={'dotted' if edge.kind == 'use' else 'dashed'}")
    label = f", label={_quoted(edge.label)}" if edge.label else ""
    plain = ", ".join(attributes)
    if len(edge.sources) > 1 and len(edge.targets) > 1:
        yield f"{_quoted(bus)} [shape=point, xlabel={_quoted(edge.label)}];"
        for source in edge.sources:
            yield f"{_quoted(source)} -> {_quoted(bus)} [{plain}, arrowhead=none];"
        for target in edge.targets:
            yield f"{_quoted(bus)} -> {_quoted(target)} [{plain}];"
        return
    for source, target in edge.pairs:
        yield f"{_quoted(source)} -> {_quoted(target)} [{plain}{label}];"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
