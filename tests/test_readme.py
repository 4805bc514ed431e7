"""README is a page, and the generated parts of the pages follow from the recorded runs."""

import re

import pytest

from harness.report import readme
from harness.report.summary import summarise
from tests.pages import README, ROOT

TEXT = README.read_text(encoding="utf-8")


def test_it_is_a_page():
    assert len(TEXT.splitlines()) <= 120


@pytest.mark.parametrize(
    ("page", "part", "run"),
    [
        (README, "results", "quick"),
        (ROOT / "ARTIFACT.md", "artifact", "quick"),
        (ROOT / "docs" / "more-cores.md", "scaling", "reference"),
        (ROOT / "docs" / "paper.md", "claims", "reference"),
        (ROOT / "docs" / "howto" / "reproduce-a-figure.md", "effort", "reference"),
        (ROOT / "docs" / "vector-environments.md", "speeds", "vectors"),
        (ROOT / "docs" / "rllib.md", "speeds", "rllib"),
        (ROOT / "docs" / "several-machines.md", "speeds", "nodes"),
        (ROOT / "docs" / "threads.md", "threads", "threads"),
    ],
)
def test_generated_results_have_their_place_and_are_those_of_the_recorded_run(page, part, run):
    text = page.read_text(encoding="utf-8")
    begin, end = readme.marks(part)
    assert text.count(begin) == text.count(end) == 1
    (shown,) = re.findall(f"{begin}\n(.*?){end}", text, re.DOTALL)
    recorded = ROOT / "results" / run
    drawn = {path.stem: path for path in (recorded / "figures").glob("*.svg")}
    assert shown == readme.PARTS[part](summarise(recorded), drawn, page.parent)
