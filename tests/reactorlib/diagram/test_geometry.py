"""Nothing overlaps, nothing is cut, every word fits: for programs of all kinds, folded and not."""

import random
from collections import Counter
from itertools import combinations

import pytest

from reactorlib import MSEC, Input, Output, Reactor, connect, reaction
from reactorlib.elaboration.elaborate import examine
from reactorlib.view.diagram import diagram_of
from reactorlib.view.diagram.draw import scene_of
from reactorlib.view.diagram.layout import lay_out
from reactorlib.view.diagram.scene import Text
from reactorlib.view.diagram.text import text_width
from tests.choice import first
from tests.reactorlib.diagram.geometry import Area, collisions, extent, loose_ends, wires_through, words
from tests.reactorlib.diagram.programs import PROGRAMS
from tests.reactorlib.reference.choices import Seeded
from tests.reactorlib.reference.generator import generate
from tests.reactorlib.reference.source import build

FOLDING = pytest.mark.parametrize("unfold", [False, True], ids=["folded", "unfolded"])
EVERY_PROGRAM = pytest.mark.parametrize("name", PROGRAMS)


def diagram(cls, unfold, **overlays):
    program, faults = examine(cls)
    placed = (
        {instance.path: i % 2 for i, instance in enumerate(program.instances)} if overlays.pop("placed", 0) else None
    )
    return diagram_of(program, unfold=unfold, faults=faults, placement=placed, **overlays)


@FOLDING
@EVERY_PROGRAM
def test_nothing_overlaps_or_leaves_its_box(name, unfold):
    assert list(collisions(lay_out(diagram(PROGRAMS[name], unfold).root))) == []


@FOLDING
@EVERY_PROGRAM
def test_nothing_overlaps_with_overlays(name, unfold):
    root = diagram(PROGRAMS[name], unfold, levels=True, placed=True).root
    assert list(collisions(lay_out(root))) == []


@FOLDING
@EVERY_PROGRAM
def test_wires_keep_clear_of_symbols_boxes_and_labels(name, unfold):
    assert list(wires_through(lay_out(diagram(PROGRAMS[name], unfold).root))) == []


@FOLDING
@EVERY_PROGRAM
def test_wires_end_where_something_is(name, unfold):
    assert list(loose_ends(lay_out(diagram(PROGRAMS[name], unfold).root))) == []


@FOLDING
@EVERY_PROGRAM
def test_words_do_not_touch(name, unfold):
    found = words(scene_of(diagram(PROGRAMS[name], unfold, levels=True, placed=True)))
    assert [(a.what, b.what) for a, b in combinations(found, 2) if a.overlaps(b)] == []


@FOLDING
@EVERY_PROGRAM
def test_everything_is_on_the_canvas(name, unfold):
    scene = scene_of(diagram(PROGRAMS[name], unfold))
    canvas = Area("canvas", 0.0, 0.0, scene.width, scene.height)
    assert [shape for shape in scene.shapes if not extent(shape).within(canvas)] == []


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "Nested"])
def test_a_folded_drawing_is_legible_at_the_width_of_a_readme(name):
    assert scene_of(diagram(PROGRAMS[name], unfold=False)).width <= 1250


@pytest.mark.parametrize("seed", first(8, range(30), "of 30 random programs eight are always tried"))
def test_random_programs_are_drawn_as_well(seed):
    cls = build(generate(Seeded(seed)))
    for unfold in (False, True):
        root = diagram(cls, unfold, levels=True).root
        laid = lay_out(root)
        assert list(collisions(laid)) + list(wires_through(laid)) + list(loose_ends(laid)) == []
        found = words(scene_of(diagram(cls, unfold)))
        assert [(a.what, b.what) for a, b in combinations(found, 2) if a.overlaps(b)] == []


class Cell(Reactor):
    inp = Input(width="n")
    out = Output(width="n")

    def __init__(self, n): ...

    @reaction(inp, effects=out)
    def a_reaction_with_a_long_name(self, inp, out): ...


def tangle(seed):
    """Cells that are wired at random: wide enough that rows are wrapped, with delays that run ahead and back."""
    chance = random.Random(seed)
    count = chance.randint(4, 12)

    class Tangle(Reactor):
        def __init__(self):
            self.cells = [Cell(n=count) for _ in range(count)]
            for number, cell in enumerate(self.cells):
                setattr(self, f"cell{number}", cell)
            free = {number: iter(range(count)) for number in range(count)}
            for one, other in ((a, chance.randrange(count)) for a in range(count) for _ in range(chance.randint(0, 1))):
                after = {} if other > one and chance.random() < 0.5 else {"after": chance.choice([0, 1, 5]) * MSEC}
                connect(self.cells[one].out[other], self.cells[other].inp[next(free[other])], **after)

    return Tangle


@pytest.mark.parametrize("seed", range(40))
def test_every_delay_is_written_on_its_connection(seed):
    drawn = diagram(tangle(seed), unfold=False)
    labels = Counter(edge.label for edge in drawn.root.edges if edge.label)
    texts = Counter(shape.text for shape in scene_of(drawn).shapes if isinstance(shape, Text))
    assert {label: texts[label] for label in labels} == labels


@pytest.mark.parametrize("bold", [False, True])
def test_estimated_widths_are_those_of_a_wide_font(bold):
    font_manager = pytest.importorskip("matplotlib.font_manager")
    ft2font = pytest.importorskip("matplotlib.ft2font")
    name = font_manager.findfont(font_manager.FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal"))
    font = ft2font.FT2Font(name)
    for character in map(chr, range(32, 127)):
        advance = font.load_char(ord(character), flags=ft2font.LoadFlags.NO_SCALE).horiAdvance / font.units_per_EM
        assert text_width(character, 100, bold) / 100 == pytest.approx(advance, abs=0.011), character
