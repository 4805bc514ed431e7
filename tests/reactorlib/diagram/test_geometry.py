"""Nothing overlaps, nothing is cut, every word fits: for programs of all kinds, folded and not."""

import random
from collections import Counter
from itertools import combinations

import pytest

from reactorlib import MSEC, Input, Output, Reactor, connect
from reactorlib.elaboration.elaborate import examine
from reactorlib.view.diagram import diagram_of
from reactorlib.view.diagram.layout import lay_out
from reactorlib.view.diagram.layout.metrics import text_width
from reactorlib.view.diagram.svg import svg_text
from tests.choice import first
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.diagram.geometry import drawn, flaws_of
from tests.reactorlib.diagram.programs import PROGRAMS
from tests.reactorlib.reference.choices import Seeded
from tests.reactorlib.reference.generator import generate
from tests.reactorlib.reference.source import build


def diagram(cls, unfold=False, overlays=False):
    program, faults = examine(cls)
    workers = [number % 2 for number in range(len(program.instances))] if overlays else ()
    return diagram_of(program, unfold=unfold, faults=faults, levels=overlays, workers=workers)


def flaws(of):
    canvas, words, shapes = drawn(svg_text(of))
    touching = [f"{a.what} touches {b.what}" for a, b in combinations(words, 2) if a.overlaps(b)]
    cut = [f"{area.what} leaves the canvas" for area in (*words, *shapes) if not area.within(canvas)]
    return [*flaws_of(lay_out(of.root)), *touching, *cut]


@pytest.mark.parametrize("overlays", [False, True], ids=["plain", "overlays"])
@pytest.mark.parametrize("unfold", [False, True], ids=["folded", "unfolded"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_overlaps_or_is_cut_and_wires_keep_clear(name, unfold, overlays):
    assert flaws(diagram(PROGRAMS[name], unfold, overlays)) == []


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("Nested", "Modal")])
def test_a_folded_drawing_is_legible_at_the_width_of_a_readme(name):
    assert drawn(svg_text(diagram(PROGRAMS[name])))[0].right <= 1250


@pytest.mark.parametrize("seed", first(8, range(30), "of 30 random programs eight are always tried"))
def test_random_programs_are_drawn_as_well(seed):
    cls = build(generate(Seeded(seed)))
    for unfold in (False, True):
        assert flaws(diagram(cls, unfold, overlays=True)) == []


class Cell(Reactor):
    inp = Input(width="n")
    out = Output(width="n")

    def __init__(self, n): ...

    a_reaction_with_a_long_name = noted(inp, effects=out)


def tangle(seed):
    """Cells that are wired at random, with delays that run ahead and back."""
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
    tangled = diagram(tangle(seed))
    labels = Counter(edge.label for edge in tangled.root.edges if edge.label)
    texts = Counter(word.what for word in drawn(svg_text(tangled))[1])
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
