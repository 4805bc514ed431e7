"""Dataflow diagrams of any program: SVG, HTML, DOT and Mermaid. No run loads them.

Read in this order: `build` (from a program to a diagram), `layout` (its places), then a writer for each format.
"""

from __future__ import annotations

from collections.abc import Callable

from reactorlib.view.diagram.build import diagram_of
from reactorlib.view.diagram.dot import dot_text
from reactorlib.view.diagram.html import page_text
from reactorlib.view.diagram.mermaid import mermaid_text
from reactorlib.view.diagram.model import Diagram
from reactorlib.view.diagram.svg import svg_text

# The text of a diagram by the suffix of its file: the same for the same program.
WRITERS: dict[str, Callable[[Diagram], str]] = {
    "svg": svg_text,
    "html": page_text,
    "dot": dot_text,
    "mmd": mermaid_text,
}

__all__ = ["WRITERS", "Diagram", "diagram_of"]
