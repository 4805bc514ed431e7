"""The page in a real browser: nothing on the console, nothing asked for, nothing too wide, legible in both schemes."""

import pytest

from harness.cli.commands import main
from harness.store.scaling_table import SCALING
from tests.harness import runs
from tests.harness.report import browser, made_up

BACKENDS = ("serial", "reactor-inline", "reactor-processes", "ray-paper")
POINTS = (
    ("gym_sampling", {"actors": 2, "rounds": 50, "env": "MountainCarContinuous-v0"}),
    ("gym_sampling", {"actors": 16, "rounds": 50, "env": "CartPole-v1"}),
    ("q_learning", {"actors": 4, "rounds": 5}),
    ("broadcast_gather", {"actors": 4, "rounds": 5}),
)
PHONE, TABLET, DESKTOP = (390, 844), (768, 1024), (1440, 900)

# Elements that leave the screen (the window grows with them), though no box that scrolls by itself holds them. Parts of
# a picture scale with the picture.
TOO_WIDE = """
[...document.body.querySelectorAll("*")]
  .filter(one => !one.closest("svg *") && !one.parentElement.closest(".table"))
  .filter(one => one.getBoundingClientRect().right > screen.width + 0.5 || one.getBoundingClientRect().left < -0.5)
  .map(one => one.outerHTML.slice(0, 80))
"""
# Text whose contrast is below 4.5 (WCAG 2.1, success criterion 1.4.3), with the contrast.
FAINT = """
(() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const linear = part => part <= 0.04045 * 255 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = one => {
    for (; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.body.querySelectorAll("h1, h2, p, li, th, td, figcaption, summary, code")].map(one => {
    const [low, high] = [luminance(parse(getComputedStyle(one).color)), luminance(behind(one))].sort((a, b) => a - b);
    return [(high + 0.05) / (low + 0.05), one.outerHTML.slice(0, 80)];
  }).filter(([contrast]) => contrast < 4.5);
})()
"""
UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report of a run with everything that a report can show."""
    path = tmp_path_factory.mktemp("page") / "run"
    runs.write(path, chosen=runs.grid(backends=BACKENDS, trials=3, points=POINTS), run_id="run")
    SCALING.write(path, made_up.scaled())
    assert main(["report", str(path)]) == 0
    return path / "report.html"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    executable = browser.found()
    if executable is None:
        pytest.skip(f"no browser on PATH; looked for {', '.join(browser.NAMES)}")
    with browser.Browser(executable, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.slow(reason="seconds in a browser, and every figure; `make test` has the faults that are found there")
@pytest.mark.parametrize("size", [PHONE, TABLET, DESKTOP], ids=["phone", "tablet", "desktop"])
def test_the_page_is_whole_and_legible(page, chromium, size, scheme):
    assert chromium.open(page.as_uri(), *size, scheme) == []
    chromium.evaluate(UNFOLD)
    assert [url for url in chromium.requested() if not url.startswith("data:")] == [page.as_uri()]
    assert chromium.evaluate("innerWidth") == size[0]
    assert chromium.evaluate("document.scrollingElement.scrollWidth") <= size[0]
    assert chromium.evaluate(TOO_WIDE) == []
    assert chromium.evaluate(FAINT) == []
    assert chromium.evaluate(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
    assert chromium.evaluate(BACKGROUND) == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}[scheme]


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(23, 23, 23)")])
def test_every_figure_and_table_is_shown_and_figures_are_dark_on_a_dark_page(page, chromium, scheme, paper):
    chromium.open(page.as_uri(), *DESKTOP, scheme)
    chromium.evaluate(UNFOLD)
    drawn = {path.stem for path in page.parent.glob("figures/*.svg")}
    assert {"scaling", "round_time", "gym_sampling"} <= drawn
    patch = "getComputedStyle(one.querySelector('[id$=patch_1] path')).fill"
    fills = chromium.evaluate(f"[...document.querySelectorAll('figure svg')].map(one => {patch})")
    assert fills == [paper] * len(drawn)
    heights = "[...document.querySelectorAll('figure svg')].map(one => one.getBoundingClientRect().height)"
    assert min(chromium.evaluate(heights)) >= 100
    headings = chromium.evaluate("[...document.querySelectorAll('summary')].map(one => one.textContent)")
    assert {"scaling with workers", "Scaling with workers, explained"} <= set(headings)


@pytest.mark.parametrize("size", [PHONE, TABLET, DESKTOP], ids=["phone", "tablet", "desktop"])
def test_the_verdict_is_on_the_first_screen_whole(page, chromium, size):
    chromium.open(page.as_uri(), *size, "light")
    box = "document.querySelector('.table').getBoundingClientRect()"
    assert chromium.evaluate(f"{box}.top") < size[1] / 2
    assert chromium.evaluate("(t => t.scrollWidth - t.clientWidth)(document.querySelector('.table'))") == 0
    assert chromium.evaluate("document.querySelectorAll('details[open]').length") == 0


def test_a_table_scrolls_below_its_first_column(page, chromium):
    chromium.open(page.as_uri(), *PHONE, "light")
    chromium.evaluate(UNFOLD)
    first = "document.querySelector('details tbody td').getBoundingClientRect().left"
    second = "document.querySelector('details tbody td + td').getBoundingClientRect().left"
    before = chromium.evaluate(first), chromium.evaluate(second)
    chromium.evaluate("document.querySelector('details .table').scrollLeft = 200")
    assert chromium.evaluate(first) == before[0]
    assert chromium.evaluate(second) == before[1] - 200


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("<p style='width: 500px'>wide</p>", "too wide"),
        ("<p style='color: #777; background: #888'>grey</p>", "faint"),
        ("<script>console.error('no')</script>", "console"),
        ("<script>undefined.name</script>", "console"),
        ("<img src='absent.png'>", "console"),
    ],
)
def test_a_page_with_a_fault_does_not_pass(tmp_path, chromium, body, told):
    (tmp_path / "faulty.html").write_text(f"<!doctype html><meta name=viewport content='width=device-width'>{body}")
    events = chromium.open((tmp_path / "faulty.html").as_uri(), *PHONE, "light")
    found = {"too wide": chromium.evaluate(TOO_WIDE), "faint": chromium.evaluate(FAINT), "console": events}
    assert [name for name, faults in found.items() if faults] == [told]
