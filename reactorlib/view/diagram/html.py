"""HTML of a diagram: a page that opens from disk without a network, and the piece that a notebook shows."""

from __future__ import annotations

from html import escape

from reactorlib.view.diagram.model import Box, Diagram, Port, Symbol
from reactorlib.view.diagram.svg import svg_of_box, svg_of_line, svg_of_symbol, svg_text

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
ul {{ display: flex; flex-wrap: wrap; gap: .6rem 2rem; list-style: none; margin: 0; padding: 0 }}
li {{ display: flex; flex-wrap: wrap; align-items: center; gap: .6rem; font-size: .85rem }}
@media (prefers-color-scheme: dark) {{ body {{ color: #e8edf2; background: #0b0f13 }} }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{description}.</p>
{faults}{picture}<h2>Signs</h2>
<ul>
{legend}
</ul>
</body>
</html>
"""
_BOXES = {
    "a reactor with its ports, one a multiport": Box(
        "box", "reactor", "reactor", "Class", inputs=(Port("i", "in"),), outputs=(Port("o", "out[2]"),)
    ),
    "a bank, its members folded into one box": Box("box", "reactor", "bank[4]", "Class", width=4),
    "a mode, the initial one with a bold border": Box("box", "mode", "mode", initial=True),
}
_SYMBOLS = {
    "a reaction, with its number in the order of its reactor": Symbol("x", "reaction", "serve", number="1"),
    "the start of the program, or its shutdown": Symbol("x", "startup", "startup"),
    "a timer": Symbol("x", "timer", "tick"),
    "a logical action": Symbol("x", "logical action", "act"),
    "a physical action": Symbol("x", "physical action", "ext"),
}
_LINES = {
    "connection, within the same tag": "connection",
    "connection that takes time; after 0 is the next microstep": "delayed",
    "physical connection: arrives by the wall clock": "physical",
    "triggers a reaction": "trigger",
    "is read by a reaction, does not trigger it": "use",
    "may be set or scheduled by a reaction": "effect",
    "switches to a mode": "transition",
    "on a causality cycle: the program cannot run": "cyclic",
}


def page_text(diagram: Diagram) -> str:
    """The text of a page with the diagram, its faults in words, and a legend."""
    faults = "".join(f"<pre>{escape(fault)}</pre>\n" for fault in diagram.faults)
    signs = [(svg_of_box(box), meaning) for meaning, box in _BOXES.items()]
    signs += [(svg_of_symbol(symbol), meaning) for meaning, symbol in _SYMBOLS.items()]
    signs += [(svg_of_line(role), meaning) for meaning, role in _LINES.items()]
    return _PAGE.format(
        title=escape(diagram.root.title),
        description=escape(diagram.description),
        faults=f"<h2>What keeps it from running</h2>\n{faults}" if faults else "",
        picture=fragment_text(diagram),
        legend="\n".join(f"<li>{sign}<span>{escape(meaning)}</span></li>" for sign, meaning in signs),
    )


def fragment_text(diagram: Diagram) -> str:
    """The picture alone, to be shown within another page. It scrolls where that is narrower."""
    return f'<div style="overflow-x: auto">\n{svg_text(diagram)}</div>\n'
