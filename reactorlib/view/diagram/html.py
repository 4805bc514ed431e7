"""HTML of a diagram: a page that opens from disk without a network, and the piece that a notebook shows."""

from __future__ import annotations

from html import escape

from reactorlib.view.diagram.draw import scene_of, scene_of_box, scene_of_symbol
from reactorlib.view.diagram.model import Box, Diagram, Port, Symbol
from reactorlib.view.diagram.scene import Path, Scene
from reactorlib.view.diagram.svg import svg_text

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body {{ font-family: Helvetica, Arial, sans-serif; margin: 1.5rem; line-height: 1.4; color: #1d252c; background: #fff }}
h1 {{ font-size: 1.3rem; margin: 0 }}
h2 {{ font-size: 1rem; margin: 1.5rem 0 .5rem }}
p {{ margin: .3rem 0 1rem }}
.picture {{ overflow-x: auto }}
pre {{ overflow-x: auto; padding: .6rem; border-left: 3px solid #b3261e }}
ul {{ display: flex; flex-wrap: wrap; gap: .6rem 2rem; list-style: none; margin: 0; padding: 0 }}
li {{ display: flex; flex-wrap: wrap; align-items: center; gap: .6rem; font-size: .85rem }}
@media (prefers-color-scheme: dark) {{ body {{ color: #e8edf2; background: #0b0f13 }} }}
</style>
</head>
<body>
<h1>{heading}</h1>
<p>{description}.</p>
{faults}<div class="picture">
{picture}</div>
<h2>Signs</h2>
<ul>
{legend}
</ul>
</body>
</html>
"""

_LINES = {
    "connection": "connection, within the same tag",
    "delayed": "connection that takes time; after 0 is the next microstep",
    "physical": "physical connection: arrives by the wall clock",
    "trigger": "triggers a reaction",
    "use": "is read by a reaction, does not trigger it",
    "effect": "may be set or scheduled by a reaction",
    "transition": "switches to a mode",
    "cyclic": "on a causality cycle: the program cannot run",
}


def page_text(diagram: Diagram) -> str:
    """The text of a page with the diagram, its faults in words, and a legend."""
    faults = "".join(f"<pre>{escape(fault)}</pre>\n" for fault in diagram.faults)
    return _PAGE.format(
        title=escape(f"{diagram.root.title}: dataflow"),
        heading=escape(diagram.root.title),
        description=escape(diagram.description),
        faults=f"<h2>What keeps it from running</h2>\n{faults}" if faults else "",
        picture=svg_text(scene_of(diagram)),
        legend="\n".join(f"<li>{svg_text(sign)}<span>{escape(meaning)}</span></li>" for sign, meaning in _legend()),
    )


def fragment_text(diagram: Diagram) -> str:
    """The picture alone, to be shown within another page; it scrolls where that is narrower."""
    return f'<div style="overflow-x: auto">\n{svg_text(scene_of(diagram))}</div>\n'


def _legend() -> list[tuple[Scene, str]]:
    """Each sign as a scene, with what it means."""
    reactor = Box("box", "reactor", "reactor", "Class", inputs=(Port("i", "in"),), outputs=(Port("o", "out[2]"),))
    return [
        (scene_of_box(reactor), "a reactor with its ports, one a multiport"),
        (scene_of_box(Box("box", "reactor", "bank[4]", "Class", width=4)), "a bank, its members folded into one box"),
        (scene_of_box(Box("box", "mode", "mode", initial=True)), "a mode, the initial one with a bold border"),
        (scene_of_symbol(Symbol("x", "reaction", "serve", (), "1")), "a reaction, numbered as ordered in its reactor"),
        (scene_of_symbol(Symbol("x", "startup", "startup")), "the start of the program, or its shutdown"),
        (scene_of_symbol(Symbol("x", "timer", "tick")), "a timer"),
        (scene_of_symbol(Symbol("x", "logical action", "act")), "a logical action"),
        (scene_of_symbol(Symbol("x", "physical action", "ext")), "a physical action"),
        *((_line(role), meaning) for role, meaning in _LINES.items()),
    ]


def _line(role: str) -> Scene:
    return Scene(56, 14, role, (Path((("M", ((3, 7),)), ("L", ((53, 7),))), role),))
