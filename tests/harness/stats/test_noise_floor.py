"""The noise floor: comparisons of a backend with itself, and the verdicts of a report that depend on them."""

import dataclasses

import pytest

from harness.report import export, markdown, page, report_tables
from harness.report.summary import summarise
from harness.stats import noise_floor
from harness.stats.intervals import Estimate
from harness.stats.noise_floor import SelfComparison
from tests.harness import runs


def compared(ratio=1.01, reach=1.04, **changes):
    """A comparison whose interval reaches by a factor to either side."""
    estimate = Estimate(ratio, ratio / reach, ratio * reach, 5)
    return dataclasses.replace(SelfComparison("gym_sampling/actors=2", "serial", estimate), **changes)


@pytest.mark.parametrize(("ratio", "right", "apart"), [(1.01, True, 1.01), (1.2, False, 1.2), (1 / 1.2, False, 1.2)])
def test_the_floor_is_how_far_equals_were_apart(ratio, right, apart):
    one = compared(ratio)
    assert one.contains_one is right
    assert one.distance == pytest.approx(apart)
    assert one.half_width == pytest.approx(1.04)
    quieter = [compared(1.005), compared(1.1, point="overhead")]
    assert noise_floor.floor_of([one, *quieter]) == pytest.approx(max(apart, 1.1))
    assert noise_floor.floor_of([]) == 1.0


def test_the_report_says_it_in_every_form(tmp_path, monkeypatch):
    path = runs.write(tmp_path / "run", factors={"reactor-inline": 1 / 1.02})
    assert report_tables.NOT_MEASURED in markdown.to_markdown(summarise(path))
    monkeypatch.setattr(noise_floor, "of_run", lambda *_: iter([compared(1.2)]))
    summary = summarise(path)
    for text in (markdown.to_markdown(summary), page.render(summary, {})):
        assert "gym_sampling/actors=2, serial against itself, 5 starts: the ratio is off by 20 %" in text
        assert "differences of less than 20 % are called undecided" in text
    (told,) = export.to_json(summary)["noise"]
    assert (told["backend"], told["ratio"]["count"]) == ("serial", 5)
