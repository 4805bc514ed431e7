"""Every contributed file is valid, and the page shows what they hold. A pull request that adds one runs these tests."""

import re

import pytest

from harness.report import contributed, readme
from harness.report.figures import contributed_figures
from harness.store import contribution
from plots import page, style
from tests.pages import DOCS, ROOT

DIRECTORY = ROOT / "results" / "contributed"
FILES = sorted(DIRECTORY.glob("*.json"))
FIGURE = DIRECTORY / "speed_up.svg"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_contributed_file_is_valid_and_named_after_its_run(path):
    assert contribution.read(path).run_id == path.stem


def test_the_page_shows_all_files():
    found = contributed.read_all(DIRECTORY)
    drawn = FIGURE if FIGURE.exists() else None
    text = (DOCS / "contributed.md").read_text(encoding="utf-8")
    begin, end = readme.marks(contributed.PART)
    (shown,) = re.findall(f"{begin}\n(.*?){end}", text, re.DOTALL)
    assert shown == readme.contributions(found, contributed.points(found.values()), drawn, DOCS)


def test_the_figure_is_drawn_from_all_files(tmp_path):
    chart = contributed_figures.speed_up(contributed.points(contributed.read_all(DIRECTORY).values()))
    assert (chart is None) == (not FIGURE.exists())
    if chart is not None:
        assert style.save(page.render(chart), tmp_path / "again.svg").read_text() == FIGURE.read_text()
