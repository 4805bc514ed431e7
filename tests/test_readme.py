"""README is a page, and its generated part is what the reference results give."""

import re

import pytest

from harness import readme
from harness.summary import summarise
from tests.pages import README, ROOT

TEXT = README.read_text(encoding="utf-8")


def test_it_is_a_page():
    assert len(TEXT.splitlines()) <= 150


@pytest.mark.parametrize(("page", "part"), [(README, "results"), (ROOT / "docs" / "paper.md", "claims")])
def test_generated_results_have_their_place_and_are_those_of_the_reference(page, part):
    text = page.read_text(encoding="utf-8")
    begin, end = readme.marks(part)
    assert text.count(begin) == text.count(end) == 1
    (shown,) = re.findall(f"{begin}\n(.*?){end}", text, re.DOTALL)
    reference = ROOT / "results" / "reference"
    drawn = sorted((reference / "figures").iterdir())
    assert shown == readme.PARTS[part](summarise(reference), drawn, page.parent)
