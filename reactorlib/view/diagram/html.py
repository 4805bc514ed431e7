"""HTML of a diagram: a page that opens from disk without a network, and the piece that a notebook shows."""

from __future__ import annotations

from html import escape

from reactorlib.view.diagram.draw import scene_of
from reactorlib.view.diagram.legend import legend
from reactorlib.view.diagram.model import Diagram
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


def page_text(diagram: Diagram) -> str:
    """The text of a page with the diagram, its faults in words, and a legend."""
    faults = "".join(f"<pre>{escape(fault)}</pre>\n" for fault in diagram.faults)
    return _PAGE.format(
        title=escape(f"{diagram.root.title}: dataflow"),
        heading=escape(diagram.root.title),
        description=escape(diagram.description),
        faults=f"<h2>What keeps it from running</h2>\n{faults}" if faults else "",
        picture=svg_text(scene_of(diagram)),
        legend="\n".join(f"<li>{svg_text(sign)}<span>{escape(meaning)}</span></li>" for sign, meaning in legend()),
    )


def fragment_text(diagram: Diagram) -> str:
    """The picture alone, to be shown within another page; it scrolls where that is narrower."""
    return f'<div style="overflow-x: auto">\n{svg_text(scene_of(diagram))}</div>\n'
