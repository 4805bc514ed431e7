"""A figure's colours, on light and on dark pages."""

import colorsys
import doctest
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from harness.stats.intervals import Estimate
from plots import page, style
from plots.chart import Bar, BarPanel, Chart, Scale

COLOURS = sorted({look.color.lower() for look in style.LOOKS.values()} | {"#000000", style.INK, style.FAINT})


def parts_of(colour):
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def luminance(colour):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts_of(colour)]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_examples_hold():
    assert doctest.testmod(style).failed == 0


@pytest.mark.parametrize("colour", COLOURS)
def test_a_colour_is_seen_on_a_dark_page(colour):
    least = 4.5 if colour in (style.INK, style.FAINT) else 3  # of text, of lines (WCAG 2.1, 1.4.3 and 1.4.11)
    assert contrast(style.dark(colour), style.dark("#ffffff")) >= least


def test_a_saved_figure_has_a_dark_rule_for_every_colour(tmp_path):
    with style.applied():
        figure = Figure(figsize=(2, 1))
        axes = figure.subplots()
        axes.bar([1], [1], color="#882255", hatch="//", edgecolor="#dddddd")
    svg = style.save(figure, tmp_path / "bars.svg")
    text = svg.read_text()
    ET.fromstring(text)
    light, _, rules = text.partition("@media (prefers-color-scheme: dark)")
    assert "#882255" not in light
    shown = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", rules.partition("</style>")[2]))
    ruled = set(re.findall(r'\[style\*="\w+: (#[0-9a-f]{6})"\]', rules))
    assert shown == ruled
    assert style.dark("#882255") in rules


ONE = Estimate(1.0, 0.9, 1.2, 5)
CHART = Chart("title", "", (BarPanel("panel", Scale("ms"), (Bar("serial", ONE, "1 ms"), Bar("ray-paper", ONE, ""))),))


def test_the_same_chart_gives_the_same_bytes_whatever_a_user_s_matplotlibrc_says(tmp_path):
    plain = style.save(page.render(CHART), tmp_path / "plain.svg")
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "savefig.transparent": True}):
        changed = style.save(page.render(CHART), tmp_path / "changed.svg")
    assert plain.read_bytes() == changed.read_bytes()


def test_a_family_has_one_hue():
    def hue(name):
        return colorsys.rgb_to_hls(*parts_of(style.look(name).color))[0]

    assert all(0.03 < hue(name) < 0.12 for name in style.LOOKS if name.startswith("ray-"))
    assert all(0.25 < hue(name) < 0.5 for name in style.LOOKS if name.startswith("reactor-"))


@pytest.mark.parametrize("end", ["2.05 ms", "4 MB", "100 KiB within a message", "10 %"])
def test_a_number_stays_with_its_unit_where_a_title_breaks(end):
    start = "x" * (page._TITLE_CHARACTERS - 1 - len(end.split()[0]))  # the number alone would fit
    shown = page.render(replace(CHART, title=f"{start} {end}")).texts[0].get_text()
    assert shown.split("\n") == [start, end]
