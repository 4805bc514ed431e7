"""The noise floor: what comparisons of a backend with itself tell, and what it makes of a report's verdicts."""

import dataclasses
import random

import pytest

from harness import page, report
from harness.engine.block import EFFORT, Measured
from harness.engine.turn import Turn
from harness.errors import UsageError
from harness.noise import campaign, floor
from harness.noise.table import NOISE, Row
from harness.stats import Estimate
from harness.summary import Verdict, summarise
from tests.harness import runs

ROW = Row("run", "gym_sampling", "CartPole-v1", "serial", "{}", "throughput", 5, 0, 1.0, 0.9, 1.1, True, "ok")


def comparisons(count=20, reach=1.04, wrong=0, **changes):
    """So many comparisons whose intervals reach by a factor to either side; `wrong` of them do not contain 1."""
    for index in range(count):
        ratio = 1.2 if index < wrong else 1.01
        low, high = ratio / reach, ratio * reach
        yield dataclasses.replace(
            ROW, comparison=index, ratio=ratio, low=low, high=high, contains_one=low <= 1 <= high, **changes
        )


def test_how_often_1_is_contained_and_how_wide_intervals_are_is_said():
    measured, consequence = floor.lines(list(comparisons(wrong=1)))
    assert measured == (
        "gym_sampling CartPole-v1: serial against itself, 20 comparisons of 5 trials: 19 of 20 intervals contain 1; "
        "they reach 4.0 % to either side in the median, 4.0 % at most; the ratio farthest from 1 is off by 20 %"
    )
    assert consequence == "gym_sampling: differences of less than 4.0 % are called undecided"


@pytest.mark.parametrize(("wrong", "said"), [(0, "1.0 %"), (1, "20 %")])
def test_one_comparison_has_no_median_and_no_most(wrong, said):
    first, _ = floor.lines(list(comparisons(1, wrong=wrong)))
    assert first == (
        "gym_sampling CartPole-v1: serial against itself, 1 comparison of 5 trials: the ratio is off by "
        f"{said}; its interval reaches 4.0 % to either side and {'does not contain' if wrong else 'contains'} 1"
    )


def test_intervals_that_miss_1_too_often_are_said_to():
    (first, _) = floor.lines(list(comparisons(wrong=5)))
    assert "15 of 20 intervals contain 1" in first
    assert first.endswith("That is too few: intervals here promise more than they hold")


def test_the_noisiest_backend_makes_the_floor_of_its_workload_as_far_as_it_was_from_itself():
    rows = [*comparisons(reach=1.02, wrong=1), *comparisons(reach=1.5, wrong=1, backend="reactor-inline")]
    assert floor.by_workload(rows) == pytest.approx({"gym_sampling": 1.2})
    assert floor.by_workload([*rows, *comparisons(wrong=1, workload="overhead")])["overhead"] == pytest.approx(1.04)


def test_failed_comparisons_are_counted_and_are_no_part_of_the_floor():
    failed = dataclasses.replace(ROW, ratio=None, low=None, high=None, contains_one=None, status="time limit")
    told = list(floor.lines([*comparisons(), failed]))
    assert told[-1] == "1 comparison failed, the first: time limit"
    assert floor.floors([*comparisons(), failed])[0].comparisons == 20


def test_rows_are_read_as_they_were_written(tmp_path):
    rows = [*comparisons(wrong=1), dataclasses.replace(ROW, ratio=None, low=None, high=None, contains_one=None)]
    NOISE.write(tmp_path, rows)
    assert NOISE.read(tmp_path) == rows
    assert (tmp_path / "noise.csv").read_text().splitlines()[0] == ",".join(NOISE.columns)
    with pytest.raises(UsageError, match="exists; remove it"):
        NOISE.check_absent(tmp_path)


@pytest.mark.parametrize(("old", "new"), [("true", "yes"), ("0.97", "-0.97"), (",ok", ""), ("ratio", "ration")])
def test_a_broken_file_is_refused(tmp_path, old, new):
    NOISE.write(tmp_path, list(comparisons()))
    path = tmp_path / NOISE.file_name
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UsageError, match=r"noise\.csv, line [12]: not .* of this version; remove the file"):
        NOISE.read(tmp_path)


@pytest.mark.parametrize("text", ["bla\n", "", "a,b\n1,2\n"])
def test_a_file_with_other_columns_is_refused(tmp_path, text):
    (tmp_path / NOISE.file_name).write_text(text)
    with pytest.raises(UsageError, match=r"line 1: not the columns of this version; .* anew with `harness noise`"):
        NOISE.read(tmp_path)


@pytest.mark.parametrize(
    ("value", "reach", "expected"),
    [(1.03, 1.01, "undecided"), (0.97, 1.01, "undecided"), (1.06, 1.01, "faster"), (0.9, 1.01, "slower")],
)
def test_a_difference_within_the_floor_is_undecided_whatever_its_interval(value, reach, expected):
    one = Verdict("w", "p", "reactor-inline", "serial", Estimate(value, value / reach, value * reach, 5), (), 1.04)
    assert ("faster" if one.faster else "slower" if one.slower else "undecided") == expected
    assert dataclasses.replace(one, floor=1.0).within is False


def test_the_report_says_it_in_every_form(tmp_path):
    path = runs.write(tmp_path / "run", factors={"reactor-inline": 1 / 1.02})
    before = report.to_markdown(summarise(path))
    assert "harness noise DIR" in before
    assert "is 1.02x" in before.partition("## Where the reactor runtime is faster")[2]
    NOISE.write(path, list(comparisons(wrong=1)))
    summary = summarise(path)
    undecided = report.to_markdown(summary).partition("## Where no difference is shown")[2].partition("##")[0]
    assert "reactor-inline is 1.02x" in undecided
    assert "serial within the noise floor of 4.0 %" in undecided
    for text in (report.to_markdown(summary), page.render(summary, [])):
        assert "19 of 20 intervals contain 1" in text
        assert "differences of less than 4.0 % are called undecided" in text
    (told,) = report.to_json(summary)["noise"]
    assert (told["containing"], told["comparisons"]) == (19, 20)


def test_comparisons_of_simulated_blocks_contain_1_in_90_of_100(monkeypatch, tmp_path):
    noise = random.Random(5)

    def run(subjects, *_):
        return [
            Measured(
                subject,
                turns={(sweep, 0): Turn(1, int(1e6 * noise.lognormvariate(0, 0.1)), 1) for sweep in range(20)},
            )
            for subject in subjects
        ]

    monkeypatch.setattr(campaign.block, "run", run)
    (point,) = runs.grid().points
    chosen = [campaign.Compared(point, ("serial",))]
    rows = campaign.run(tmp_path, "run", chosen, comparisons=100, trials=4, effort=EFFORT, tell=lambda _: None)
    assert NOISE.read(tmp_path) == rows
    assert sum(row.contains_one for row in rows) >= 90
    assert {row.metric for row in rows} == {"round_time"}
