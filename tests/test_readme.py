"""README is a page, and its generated part is what the reference results give."""

import re

from harness import readme
from harness.summary import summarise
from tests.pages import README, ROOT

TEXT = README.read_text(encoding="utf-8")


def test_it_is_a_page():
    assert len(TEXT.splitlines()) <= 150


def test_generated_results_have_their_place_and_are_those_of_the_reference():
    assert TEXT.count(readme.BEGIN) == TEXT.count(readme.END) == 1
    (shown,) = re.findall(f"{readme.BEGIN}\n(.*?){readme.END}", TEXT, re.DOTALL)
    reference = ROOT / "results" / "reference"
    drawn = sorted((reference / "figures").iterdir())
    assert shown == readme.section(summarise(reference), drawn, ROOT)
