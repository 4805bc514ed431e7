"""The answer of a run: which points it names, how they stand, and the last screen that shows it."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from harness.report import markdown, page, readme, report_tables, run_answer, terminal
from harness.report.summary import summarise
from harness.stats import intervals
from harness.stats.judgement import FASTER, SLOWER, TOO_FEW, UNDECIDED, standing
from harness.store.trial_records import TRIALS, TrialRecord
from tests.harness.report.made_up import times
from tests.pages import ROOT

OURS = {"reactor-processes": times(100)}


def shown(summary, width):
    output = io.StringIO()
    terminal.show_answer(summary, summary.path / page.PAGE_NAME, Console(file=output, width=width))
    return output.getvalue()


def test_a_workload_is_answered_at_the_points_of_least_and_most_lead_over_the_best_ray(results):
    summary = results(
        {"serial": times(50), **OURS, "ray-pooled-compiled": times(10), "ray-pooled": times(40)},
        {"serial": times(150), **OURS, "ray-pooled-compiled": times(80), "ray-pooled": times(40)},
        {"serial": times(50), **OURS, "ray-pooled-compiled": times(50), "ray-pooled": times(40)},
    )
    (one,) = run_answer.answers(summary)
    assert [(end.point.parameters["actors"], end.ray.rival) for _, end in one.placed] == [
        (3, "ray-pooled-compiled"), (2, "ray-pooled"),
    ]  # fmt: skip
    assert [end.ray.ratio.value for _, end in one.placed] == pytest.approx([1.25, 2.5])
    assert (one.weakest.loop.standing, one.weakest.starts) == (SLOWER, 5)
    assert [row[:3] + row[-1:] for row in readme.table(summary).rows] == [
        ("gym_sampling", "weakest: CartPole-v1, 3 actors; observations/s", "**151**", "5"),
        ("", "strongest: CartPole-v1, 2 actors; observations/s", "50.2", "5"),
    ]


def test_one_number_has_one_interval_in_table_page_and_readme(results):
    rays = {"ray-pooled-compiled": [50, 55, 45, 52, 48], "ray-pooled": [80, 70, 84, 76, 88]}
    summary = results({"serial": times(50), **OURS, **rays})
    (one,) = run_answer.answers(summary)
    ratios = next(cell.speedups for cell in summary.points[0].cells if cell.backend == "reactor-processes")
    of_rays = [ratio for name, ratio in ratios.items() if name.startswith("ray-")]
    assert one.weakest.ray.ratio == intervals.least(of_rays)
    number = readme.table(summary).rows[0][-2].partition(",")[0]
    for text in (shown(summary, 100), markdown.to_markdown(summary), page.render(summary, {})):
        assert number in text


def test_the_parallel_reactors_are_compared_with_the_loop_and_one_thread_with_nothing(results):
    summary = results({"serial": times(150), "reactor-inline": times(300), **OURS, "ray-paper": times(5)})
    (one,) = run_answer.answers(summary)
    assert one.weakest.loop.ratio.value == pytest.approx(100 / 150)
    # On an interpreter without a lock, threads would stand for reactors on all cores.
    first = summary.rows[0]
    unlocked = TrialRecord(first.workload, first.parameters, "reactor-threads", 0, "now", 1.0, 0.0, gil_enabled=False)
    TRIALS.write(summary.path, [unlocked])
    assert run_answer.answers(summarise(summary.path)) == []


@pytest.mark.parametrize(
    ("estimate", "floor", "expected"),
    [
        (intervals.Estimate(1.5, 1.4, 1.6, 5), 1.0, FASTER),
        (intervals.Estimate(0.5, 0.4, 0.6, 5), 1.0, SLOWER),
        (intervals.Estimate(1.5, 1.4, 1.6, 5), 1.4, FASTER),
        (intervals.Estimate(1.5, 1.4, 1.6, 5), 1.6, UNDECIDED),
        (intervals.Estimate(0.97, 0.96, 0.98, 5), 1.04, UNDECIDED),
        (intervals.Estimate(0.9, 0.89, 0.91, 5), 1.04, SLOWER),
        (intervals.Estimate(1.5, 0.9, 1.6, 5), 1.0, UNDECIDED),
        (intervals.Estimate(1.5, 1.5, 1.5, 1), 1.0, TOO_FEW),
    ],
)
def test_one_rule_says_what_is_undecided(estimate, floor, expected):
    assert standing(estimate, floor) == expected


def test_losses_come_first_and_each_sentence_counts_all_workloads(results, tmp_path):
    summary = results({"serial": times(150), **OURS, "ray-paper": times(5)}, {**OURS, "ray-paper": times(200)})
    by_ray, by_loop = run_answer.sentences(run_answer.answers(summary), 4)
    assert "the best Ray" in by_ray
    assert "slower in 1 of 1 workload (gym_sampling 0.50x)" in by_ray
    assert "slower in 1 of 1 workload (gym_sampling 0.67x at CartPole-v1)" in by_loop


def test_a_loss_that_is_shown_counts_before_a_lower_ratio_that_is_undecided(results):
    summary = results(OURS | {"ray-paper": [60, 250, 100, 200, 80]}, OURS | {"ray-paper": times(108)})
    (by_ray,) = run_answer.sentences(run_answer.answers(summary), 4)
    assert "slower in 1 of 1 workload (gym_sampling 0.93x at CartPole-v1)" in by_ray


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("run", ["quick", "reference"])
def test_the_last_screen_fits_and_breaks_no_word(width, run):
    summary = summarise(ROOT / "results" / run)
    text = shown(summary, width)
    lines = text.splitlines()
    assert len(lines) <= 40 or width < 100
    assert all(len(line) <= width or line.startswith(("Report: ", "Next: ")) for line in lines)
    words = set(text.split())
    for one in run_answer.answers(summary):
        assert {one.workload, one.weakest.ray.rival} <= words
    assert lines[-1].startswith("Next: ")


@pytest.mark.parametrize(("trials", "expected"), [(2, "--resume --trials 5"), (5, "make advise")])
def test_the_next_command_adds_starts_where_there_are_few(results, trials, expected):
    summary = results({"serial": times(50)[:trials], "reactor-processes": times(100)[:trials]})
    assert expected in shown(summary, 100).splitlines()[-1]


def test_where_nothing_can_be_compared_that_is_said(results):
    summary = results({"serial": times(150)})
    assert run_answer.answers(summary) == []
    assert "Nothing can be compared" in shown(summary, 100)
    assert run_answer.HEADING not in markdown.to_markdown(summary)
    assert report_tables.ANSWER_EXPLAINED not in page.render(summary, {})


@pytest.mark.parametrize(
    ("of_ray", "told", "meant"),
    [
        (times(20), "faster than ray-paper", False),
        (times(500), "slower than ray-paper", False),
        ([100, 300, 150, 400, 120], "undecided, ray-paper", True),
    ],
)
def test_the_last_screen_says_than_whom_reactors_are_faster_and_what_doubts_mean(results, of_ray, told, meant):
    text = shown(results({**OURS, "ray-paper": of_ray}), 200)
    assert told in text
    assert ("'spread': standard deviation over 10 % of the mean." in text) == meant


def test_noise_floors_are_told_from_the_lowest_to_the_highest():
    one, other = (SimpleNamespace(floor=floor, noise=["measured"]) for floor in (1.05, 1.02))
    assert report_tables.floors(one, other).startswith("Noise floor: 2.0 % to 5.0 %, of each run its own.")
    assert report_tables.floors(one).startswith("Noise floor: 5.0 %.")
