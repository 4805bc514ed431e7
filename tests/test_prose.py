"""The check of prose finds what it names, and leaves out what is no prose."""

import pytest

from tools import prose

LONG = " ".join(["word"] * (prose.MOST_WORDS + 1)) + "."


@pytest.mark.parametrize(
    ("sentence", "rules"),
    [
        ("Name the subject.", []),
        ("What waits is suspended.", [prose.HEADLESS]),
        ("What is a tag?", []),
        (LONG, [prose.LONG]),
        (f"`{LONG}` is one word.", []),
    ],
)
def test_a_sentence_breaks_these_rules(sentence, rules):
    assert list(prose.faults(sentence)) == rules


@pytest.mark.parametrize(
    "template", ["```\n{}\n```", "| {} |", "# {}", "<!-- a:begin -->\n{}\n<!-- a:end -->", ">>> f()\n{}"]
)
def test_what_is_no_prose_is_left_out(template):
    page = f"Before.\n\n{template.format(LONG)}\n\nAfter."
    assert [text for _, text in prose.paragraphs(page)] == ["Before.", "After."]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('"""A module.\n\nWhat it does.\n"""', [(3, "What it does.")]),
        ("x = 1  # one\ny = 2  # two", [(1, "one"), (2, "two")]),
        ("# a sentence that\n# goes on", [(2, "a sentence that goes on")]),
        ("x = 1  # noqa: E501", []),
    ],
)
def test_docstrings_and_comments_are_read(source, found):
    assert [place for place in prose.of_python(source) if place != (1, "A module.")] == found


def test_more_than_the_limit_fails(tmp_path, monkeypatch, capsys):
    (tmp_path / "page.md").write_text("Who waits sleeps.\n\nWho runs does not.\n")
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "PLACES", ("page.md",))
    for limit, status in ((2, 0), (1, 1)):
        monkeypatch.setattr(prose, "LIMITS", {prose.HEADLESS: limit})
        assert prose.main([]) == status
    assert "page.md:3: " in capsys.readouterr().out
