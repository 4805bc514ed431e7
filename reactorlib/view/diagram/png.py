"""PNG of a scene, drawn by matplotlib: the one format that needs more than reactorlib itself."""

from __future__ import annotations

import io
import warnings
from typing import Any

from reactorlib.view.diagram.model import DiagramError
from reactorlib.view.diagram.scene import MORE, Circle, Path, Polygon, Rect, Scene, Shape, Text
from reactorlib.view.diagram.style import LIGHT, Style
from reactorlib.view.diagram.text import text_width

SCALE = 2  # px of the picture per px of the drawing
LARGEST = 30_000  # px: a drawing of very many reactors is scaled down to what viewers can open
_DPI = 100


def png_bytes(scene: Scene) -> bytes:
    """The bytes of a PNG file, twice the size of the SVG, on white. Raises DiagramError without matplotlib."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise DiagramError(
            "a .png is drawn with matplotlib, which is not installed: pip install matplotlib, or write a .svg instead"
        ) from error
    size = scene.width / _DPI, scene.height / _DPI
    dpi = min(_DPI * SCALE, LARGEST / max(size))
    with mpl.rc_context({"font.family": "DejaVu Sans"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a name in a script that the font lacks shows as boxes
        figure = Figure(figsize=size, dpi=dpi, facecolor="white")
        for order, shape in enumerate(scene.shapes):
            _Painter(figure, scene.height, order).paint(shape)
        file = io.BytesIO()
        figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


class _Painter:
    """Adds one shape to a figure, whose y axis points up."""

    def __init__(self, figure: Any, height: float, order: int) -> None:
        from matplotlib.transforms import Affine2D

        self.figure = figure
        self.order = order
        self.place = Affine2D().scale(1, -1).translate(0, height).scale(1 / _DPI) + figure.dpi_scale_trans

    def paint(self, shape: Shape) -> None:
        from matplotlib import patches
        from matplotlib.path import Path as Outline

        if isinstance(shape, Text):
            self._words(shape)
        elif isinstance(shape, Rect):
            rounding = f"round,pad=0,rounding_size={min(shape.radius, shape.height / 2)}"
            box = patches.FancyBboxPatch((shape.x, shape.y), shape.width, shape.height, boxstyle=rounding)
            self._add(box, shape.style)
        elif isinstance(shape, Polygon):
            self._add(patches.Polygon(list(shape.points), closed=True), shape.style)
        elif isinstance(shape, Circle):
            self._add(patches.Circle((shape.x, shape.y), shape.radius), shape.style)
        else:
            self._add(patches.PathPatch(_outline(shape, Outline)), shape.style)

    def _add(self, patch: Any, role: str) -> None:
        style = _style(role)
        patch.set(
            facecolor=style.fill or "none",
            edgecolor=style.line or "none",
            linewidth=style.width * 72 / _DPI,
            transform=self.place,
            zorder=self.order,
            joinstyle="miter",
        )
        if style.dash:
            patch.set_linestyle((0, tuple(length / style.width for length in style.dash)))
        self.figure.add_artist(patch)

    def _words(self, shape: Text) -> None:
        align: Any = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
        self._line(shape.x, shape.y, shape.text, shape.size, shape.style, shape.bold, align)
        if shape.more:
            x = shape.x + text_width(shape.text, shape.size, shape.bold) + MORE
            self._line(x, shape.y, shape.more, shape.more_size, shape.more_style, False, align)

    def _line(self, x: float, y: float, text: str, size: float, role: str, bold: bool, align: Any) -> None:
        self.figure.text(
            x, y, text, transform=self.place, zorder=self.order, color=_style(role).fill,
            size=size * 72 / _DPI, weight="bold" if bold else "normal", ha=align, va="baseline", parse_math=False,
        )  # fmt: skip


def _style(role: str) -> Style:
    return Style(LIGHT[role.removeprefix("head-")].line) if role.startswith("head-") else LIGHT[role]


def _outline(shape: Path, outline: Any) -> Any:
    codes = {"M": outline.MOVETO, "L": outline.LINETO, "C": outline.CURVE4}
    points = [point for _, some in shape.commands for point in some]
    return outline(points, [codes[letter] for letter, some in shape.commands for _ in some])
