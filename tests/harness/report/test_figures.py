"""Each figure shows the numbers of a run, and is readable."""

import dataclasses
import functools
import itertools
import json
from types import SimpleNamespace

import pytest
from matplotlib.text import Text

from harness.report.figures import crossover_figures, figure_catalogue, sampling_figures, study_figures
from harness.report.figures.figure_points import against_best_ray, starts_note, sweep
from harness.stats import intervals
from harness.stats.intervals import Estimate
from harness.store.scaling_table import PREDICTIONS
from plots import style
from plots.chart import BarPanel, LinePanel
from tests.choice import first
from tests.harness.report import made_up
from workloads.catalogue import BACKENDS as BACKENDS_TO_RUN

FIGURES = figure_catalogue.FIGURES
MAIN = tuple(made_up.BACKENDS)
COMPARED = ("serial", "reactor-processes", "ray-paper", "pipes", "gymnasium-async", "reactor-vector", "lockstep",
            "reactor-threads-nogil", "reactor-processes-nogil")  # fmt: skip
PAPER = ("broadcast_gather_actors", "broadcast_gather_size", "gym_sampling", "atari_sampling", "q_learning",
         "multi_agent_agents", "multi_agent_steps")  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The summary of a run, made once: `run(trials, backends)`."""

    @functools.cache
    def made(trials=5, backends=MAIN):
        measured = made_up.rows(trials, backends)
        return made_up.summary(
            tmp_path_factory.mktemp("runs") / "run", measured, made_up.turns(backends, trials), made_up.scaled()
        )

    return made


def chart(summary, name, everything=False):
    return FIGURES[name][1](summary, everything=everything)


def bars(panel):
    return {bar.series: bar.estimate.value for bar in panel.bars}


def written(figure):
    """(text, box in pixels) of everything that is written in a drawn figure."""
    outside = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
        for label in (tick.label1, tick.label2)
    }
    renderer = figure.canvas.get_renderer()
    return [
        (one.get_text(), Text.get_window_extent(one, renderer))
        for one in figure.findobj(Text)
        if one.get_visible() and one.get_text().strip() and one not in outside
    ]


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize(
    ("trials", "backends", "everything"),
    first(1, [(5, MAIN, False), (1, COMPARED, False), (5, MAIN, True)], "several kinds; one is always tried"),
)
def test_a_figure_can_be_read(name, trials, backends, everything, run):
    shown = chart(run(trials, backends), name, everything)
    figure = made_up.drawn(shown)
    texts, page = written(figure), figure.bbox
    for text, box in texts:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, f"{text!r} leaves the page"
        assert page.y0 <= box.y0 < box.y1 <= page.y1, f"{text!r} leaves the page"
    for (one, its_box), (other, other_box) in itertools.combinations(texts, 2):
        assert not its_box.padded(-1).fully_overlaps(other_box), f"{one!r} overlaps {other!r}"
    assert all(axes.get_xlabel() for axes in figure.axes)
    assert any(char.isdigit() for char in shown.title) or name == "multi_agent_steps"


@pytest.mark.parametrize(("trials", "said"), [(5, "95 % interval"), (2, "too few for an interval")])
@pytest.mark.parametrize("name", [name for name in FIGURES if name != "scaling"])
def test_a_figure_says_of_how_many_starts_it_is(name, trials, said, run):
    assert any(said in note for note in chart(run(trials, COMPARED), name).notes)


def test_every_title_says_on_how_many_cores_it_was_measured(run, monkeypatch):
    titles = []
    monkeypatch.setattr(figure_catalogue.page, "render", lambda chart: titles.append(chart.title))
    monkeypatch.setattr(figure_catalogue.style, "save", lambda _, path: path)
    assert list(figure_catalogue.draw(run())) == list(FIGURES)
    assert all(title.lower().count("on 4 cores") == 1 for title in titles)


def test_only_loop_reactors_best_ray_and_ceiling_are_shown_unless_all_are_asked_for(run):
    (_, *panels) = chart(run(), "hardware_limit").panels
    for panel in panels:
        assert len(panel.bars) <= 3
        assert {"serial", "reactor-processes"} <= bars(panel).keys()
    shown = {name for panel in chart(run(), "gym_sampling").panels for name in bars(panel)}
    assert "ray-paper" in shown
    assert "pipes" not in shown
    everything = {name for panel in chart(run(), "gym_sampling", everything=True).panels for name in bars(panel)}
    assert everything >= {*MAIN} - {"limit"}


def test_bars_stand_in_the_order_of_their_values_and_the_published_ones_last(run):
    for name, better in (("gym_sampling", -1), ("q_learning", 1), ("round_time", 1), ("hardware_limit", -1)):
        for panel in chart(run(), name).panels:
            values = [better * bar.estimate.value for bar in panel.bars if not bar.series.startswith("published")]
            assert values == sorted(values)
            assert all(style.look(bar.series).hollow for bar in panel.bars[len(values) :])


def test_a_round_is_as_long_as_its_parts(run):
    for panel in chart(run(), "round_time").panels:
        loop_ns = bars(panel)["serial"]
        for bar in panel.bars:
            (_, work), (_, rest) = bar.parts
            assert work + rest == pytest.approx(bar.estimate.value)
            assert work == pytest.approx(min(loop_ns, bar.estimate.value))


def test_a_sweep_with_one_point_is_of_bars(tmp_path):
    measured = [row for row in made_up.rows(3, COMPARED) if (row.actors, row.object_bytes) == (16, 10 * 2**20)]
    (panel,) = chart(made_up.summary(tmp_path / "run", measured), "broadcast_gather_actors").panels
    assert isinstance(panel, BarPanel)


def test_steps_of_several_agents_are_measured_at_each_tenth_of_the_turns(run):
    panel, published_panel = chart(run(), "multi_agent_steps").panels
    curve = panel.curves["reactor-processes"]
    # 160 rounds in four turns of 0.1, 0.2, 0.3 and 0.4 s, of one step each
    assert list(curve) == pytest.approx([16 * tenth for tenth in range(1, 11)])
    assert [one.value for one in curve.values()] == pytest.approx(
        [0.04, 0.08, 0.14, 0.22, 0.3, 0.42, 0.54, 0.68, 0.84, 1.0]
    )
    assert published_panel.curves.keys() == {"published-ray", "published-lf"}


def test_when_ray_catches_up_is_told_along_each_axis(tmp_path):
    template = next(row for row in made_up.rows(1, ("serial",)) if row.workload == "gym_sampling")
    measured = []
    for env, steps in [("busy:20us", 1), ("busy:200us", 1), ("busy:2ms", 1), ("busy:200us:1000", 1), ("busy:200us", 10),
                       ("busy:0us", 1)]:  # fmt: skip
        ours = {"busy:20us": 400.0, "busy:2ms": 105.0}.get(env, 200.0)
        for backend, value in (("reactor-processes", ours), ("ray-pooled", 100.0), ("serial", 50.0)):
            given = json.dumps({"actors": 8, "env": env, "steps_per_message": steps})
            measured += [
                dataclasses.replace(template, backend=backend, value=value, parameters=given, trial=trial)
                for trial in range(3)
            ]
    shown = chart(made_up.summary(tmp_path / "run", measured), "crossover")
    assert "2 ms" in shown.title
    curves = [{x: round(one.value, 9) for x, one in panel.curves["ray-pooled"].items()} for panel in shown.panels]
    assert curves == [{20_000: 4.0, 200_000: 2.0, 2_000_000: 1.05}, {4: 2.0, 1_000: 2.0}, {1: 2.0, 10: 2.0}]


@pytest.mark.parametrize(
    ("leads", "told"),
    [((2, 1), "from 10 on"), ((1, 2), "Ray is within 10 % at 1"), ((2, 2), "Ray is not within 10 % up to 10")],
)
def test_where_ray_is_as_good_is_named(leads, told):
    points = {x: Estimate(lead, lead, lead, 5) for x, lead in zip((1, 10), leads, strict=True)}
    assert crossover_figures._told({"ray-pooled": points}, "steps", "{:g}".format) == f"Steps: {told}"


@pytest.mark.parametrize(("rays", "told"), [(1, "gains nothing over a plain loop up to 1.00 ms"), (2, "what a step")])
def test_that_no_ray_gains_is_shown_of_all_at_once(rays, told):
    lead = intervals.mean([0.92, 0.94, 0.96])
    cells = [SimpleNamespace(backend=f"ray-{number}", speedups={"serial": lead}) for number in range(rays)]
    points = {1e6: SimpleNamespace(cells=cells, parameters={})}
    assert told in sampling_figures._gains(SimpleNamespace(cores=2, machine={}), points)


@pytest.mark.parametrize(
    ("trials", "ours", "doubt"),
    [
        (5, [1.0] * 5, ""),
        (5, [1.0, 3.0, 0.2, 4.0, 0.5], " (undecided at 1 of 3 points)"),
        (2, [1.0] * 2, " (too few starts at 3 of 3 points)"),
    ],
    ids=["decided", "one is not", "two starts"],
)
def test_a_finding_counts_what_is_not_decided(tmp_path, trials, ours, doubt):
    measured = []
    for row in made_up.rows(trials, ("serial", "reactor-processes", "ray-pooled")):
        strays = row.backend == "reactor-processes" and row.minibatch == 250 and row.metric == "throughput"
        measured.append(dataclasses.replace(row, value=row.value * ours[row.trial]) if strays else row)
    summary = made_up.summary(tmp_path / "run", measured)
    points = sweep(summary, "q_learning", "throughput", ["minibatch"]).points
    assert against_best_ray(summary, points, "Q-learning", "").endswith(f"x the best Ray's speed{doubt}")
    without_ray = [dataclasses.replace(one, cells=one.cells[:0]) for one in points]
    assert against_best_ray(summary, without_ray, "Q-learning", "what") == "Q-learning: what"


def test_where_simulated_work_is_left_out_of_the_lead_a_round_has_none(tmp_path):
    measured = []
    for row in made_up.rows(3, ("serial", "reactor-processes", "ray-pooled")):
        if row.workload == "broadcast_gather":
            given = json.dumps(json.loads(row.parameters) | {"work_seconds": 0.05})
            measured.append(dataclasses.replace(row, parameters=given))
    (panel,) = chart(made_up.summary(tmp_path / "run", measured), "round_time").panels
    assert not any("(" in bar.text for bar in panel.bars)


def test_a_point_without_a_chosen_backend_has_no_panel(tmp_path):
    rows = made_up.rows(3, ("serial", "reactor-processes", "pipes", "ray-pooled"))
    measured = [row for row in rows if row.minibatch == 500 or (row.minibatch == 250 and row.backend == "pipes")]
    (panel,) = chart(made_up.summary(tmp_path / "run", measured), "q_learning").panels
    assert "pipes" not in bars(panel)


def test_vectors_that_run_other_code_are_not_joined(run):
    (panel,) = chart(run(), "vectors").panels
    assert panel.curves.keys() == {"reactor-vector", "gymnasium-async", "lockstep"} | {"limit"} & panel.curves.keys()
    assert panel.y.log is False


@pytest.mark.parametrize("name", PAPER)
def test_published_values_stand_beside_ours_marked_as_such(name, run):
    shown = chart(run(), name)
    series = {one for panel in shown.panels for one in (panel.curves if isinstance(panel, LinePanel) else bars(panel))}
    assert {"published-ray", "published-lf"} <= series
    assert any("published in 2024" in text for text in (*shown.notes, *(panel.title for panel in shown.panels)))


def test_nothing_is_drawn_of_a_run_without_success(tmp_path):
    failed = [row.failed("time limit") for row in made_up.rows(1, ("serial",))]
    summary = made_up.summary(tmp_path / "run", failed)
    assert figure_catalogue.draw(summary) == {}
    assert not (tmp_path / "run" / "figures").exists()


def test_where_reactors_failed_and_no_loop_was_measured_all_others_are_shown(tmp_path):
    measured = made_up.rows(3, ("reactor-processes", "ray-pooled"), lambda row: (
        row.failed("no memory") if row.backend == "reactor-processes" else row))  # fmt: skip
    (panel,) = chart(made_up.summary(tmp_path / "run", measured), "broadcast_gather_actors").panels
    assert panel.curves.keys() == {"ray-pooled", "published-ray", "published-lf"}
    assert starts_note([]) == ""


def test_odd_names_are_shown_letter_by_letter(tmp_path):
    odd = "$x^{2$"
    measured = made_up.rows(1, COMPARED, lambda row: dataclasses.replace(
        row, parameters=row.parameters.replace("CartPole-v1", odd)))  # fmt: skip
    shown = chart(made_up.summary(tmp_path / "run", measured), "gym_sampling")
    assert odd in [text for text, _ in written(made_up.drawn(shown))]


def test_scaling_is_shaded_from_the_last_count_that_was_measured(run):
    for panel in chart(run(), "scaling").panels:
        assert panel.measured_until == 4
        assert panel.curves.keys() == {"predicted", "predicted_paid", "predicted_here", "reactor-processes"}
        assert panel.y.log


def test_advice_is_bars_with_the_part_that_is_stepping():
    (panel,) = study_figures.advice("title", "answer", {"serial": 100.0, "ray-pooled": 400.0}, 50.0).panels
    assert [dict(bar.parts) for bar in panel.bars] == [{"work": 50.0, "rest": 50.0}, {"work": 50.0, "rest": 350.0}]


def test_every_backend_of_the_catalogue_has_a_look_of_its_own():
    further = {*PREDICTIONS, "predicted_first", "best-ray", "best-ray-compiled", "published-ray", "published-lf"}
    assert style.LOOKS.keys() - further == {name for name in BACKENDS_TO_RUN if not name.endswith("-nogil")}
    looks = [look for name, look in style.LOOKS.items() if name not in further]
    assert len({look.color for look in looks}) == len({look.marker for look in looks}) == len(looks)
