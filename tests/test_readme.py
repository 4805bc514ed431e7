"""README is one page, its generated parts have their place."""

from tests.pages import README

TEXT = README.read_text(encoding="utf-8")


def test_generated_results_have_their_place():
    assert TEXT.count("<!-- results:begin -->") == TEXT.count("<!-- results:end -->") == 1
    assert TEXT.index("<!-- results:begin -->") < TEXT.index("<!-- results:end -->")
