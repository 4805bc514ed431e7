"""HTML of a diagram: a page that opens from disk without a network, and the piece that a notebook shows."""

from __future__ import annotations

from html import escape

from reactorlib.view.diagram.model import Box, Diagram, Edge, PortSymbol, Symbol
from reactorlib.view.diagram.svg import svg_text

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}: dataflow</title>
<style>
body {{ font-family: Helvetica, Arial, sans-serif; margin: 1.5rem; line-height: 1.4; color: #1d252c; background: #fff }}
h1 {{ font-size: 1.3rem; margin: 0 }}
h2 {{ font-size: 1rem; margin: 1.5rem 0 .5rem }}
pre {{ overflow-x: auto; padding: .6rem; border-left: 3px solid #b3261e }}
@media (prefers-color-scheme: dark) {{ body {{ color: #e8edf2; background: #0b0f13 }} }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{description}.</p>
{faults}{picture}{signs}</body>
</html>
"""
_SOURCE = Box("source", "reactor", "reactor", "Class", outputs=(PortSymbol("out", "out"), PortSymbol("many", "out[2]")))
_SINK = Box("sink", "reactor", "bank[4]", "Class", width=4, inputs=tuple(PortSymbol(f"in{n}", "") for n in range(4)))
_MODE = Box("mode", "mode", "mode", "initial mode", initial=True, inputs=(PortSymbol("enter", "", crossing=True),))
# The signs as a diagram: everything is called what it is.
_SIGNS = Box(
    "signs", "reactor", "Signs",
    boxes=(_SOURCE, _SINK, _MODE),
    symbols=(
        Symbol("startup", "startup", "startup"),
        Symbol("timer", "timer", "timer"),
        Symbol("physical", "physical action", "physical action"),
        Symbol("reaction", "reaction", "reaction", number="1"),
        Symbol("logical", "logical action", "logical action"),
    ),
    edges=(
        Edge("trigger", ("startup", "timer", "physical"), ("reaction",), "triggers"),
        Edge("use", ("out",), ("reaction",), "is read"),
        Edge("effect", ("reaction",), ("logical",), "may schedule or set"),
        Edge("transition", ("reaction",), ("enter",), "switches mode"),
        Edge("connection", ("many",), ("in0",), "within the same tag"),
        Edge("delayed", ("many",), ("in1",), "later; after 0 is the next microstep"),
        Edge("physical", ("many",), ("in2",), "by the wall clock"),
        Edge("connection", ("many",), ("in3",), "on a causality cycle", cyclic=True),
    ),
)  # fmt: skip


def page_text(diagram: Diagram) -> str:
    """The text of a page with the diagram, its faults in words, and a legend."""
    faults = "".join(f"<pre>{escape(fault)}</pre>\n" for fault in diagram.faults)
    title, description = escape(diagram.root.title), escape(diagram.description)
    faults = f"<h2>What keeps it from running</h2>\n{faults}" if faults else ""
    picture, signs = fragment_text(diagram), fragment_text(Diagram(_SIGNS, 5, 1))
    return _PAGE.format(title=title, description=description, faults=faults, picture=picture, signs=signs)


def fragment_text(diagram: Diagram) -> str:
    """The picture alone, to be shown within another page. It scrolls where that is narrower."""
    return f'<div style="overflow-x: auto">\n{svg_text(diagram)}</div>\n'
