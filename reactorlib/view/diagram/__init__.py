"""Dataflow diagrams of any program: SVG, HTML, PNG, DOT and Mermaid. Nothing here is loaded by a run.

A reaction is a chevron numbered in its order, a bank one box with its width, a value that arrives at a later tag
runs back from right to left. The way is: build (Program -> Diagram), layout (places), draw (shapes), one writer
for each format.
"""

from __future__ import annotations

from reactorlib.view.diagram.build import diagram_of
from reactorlib.view.diagram.dot import dot_text
from reactorlib.view.diagram.draw import scene_of
from reactorlib.view.diagram.html import page_text
from reactorlib.view.diagram.mermaid import mermaid_text
from reactorlib.view.diagram.model import Diagram, DiagramError
from reactorlib.view.diagram.png import png_bytes
from reactorlib.view.diagram.svg import svg_text

FORMATS = ("svg", "png", "dot", "mmd", "html")


def rendered(diagram: Diagram, file_format: str) -> bytes:
    """A diagram as the bytes of a file: the same bytes for the same program.

    Raises DiagramError for an unknown format, and for png without matplotlib.

    >>> from reactorlib import Reactor, elaborate
    >>> class Hello(Reactor): ...
    >>> rendered(diagram_of(elaborate(Hello)), "svg")[:4]
    b'<svg'
    """
    if file_format == "svg":
        return svg_text(scene_of(diagram)).encode()
    if file_format == "png":
        return png_bytes(scene_of(diagram))
    if file_format == "dot":
        return dot_text(diagram).encode()
    if file_format == "mmd":
        return mermaid_text(diagram).encode()
    if file_format == "html":
        return page_text(diagram).encode()
    raise DiagramError(f"unknown format {file_format!r}: one of {', '.join(FORMATS)}")


__all__ = ["FORMATS", "Diagram", "DiagramError", "diagram_of", "rendered"]
