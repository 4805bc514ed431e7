"""What is drawn from the files of further commands: the phases of a round, and the scaling with workers."""

import itertools
import json

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from plots import breakdown, figures, scaling, style
from plots.errors import FigureError
from tests.choice import first
from tests.plots.test_figures import material, overlap, written

WORKERS = (1, 2, 4, 8, 16, 32, 64)
NAMES = (*breakdown.PHASES, "round", "plain_round")
BACKENDS = ("reactor-inline", "reactor-threads", "reactor-processes", "ray-paper", "ray-tuned")
WORKLOADS = {
    "gym_sampling": "MountainCarContinuous-v0",
    "q_learning": "Blackjack-v1",
    "broadcast_gather": "100MiB",
    "overhead": "thread_ring-16",
}


def point(workload, **parameters):
    where = {"workload": workload, "scenario": WORKLOADS[workload]}
    return where | {"parameters": json.dumps({"actors": 16, "steps_per_message": 1, "seed": 0} | parameters)}


def taken_apart(workloads=tuple(WORKLOADS), trials=2):
    return pd.DataFrame(
        [
            point(workload)
            | {"backend": backend, "trial": str(trial), "phase": name, "unit": "ns", "status": "ok"}
            | {"value": str((1 + number) * 1e4 * (10 if name == "round" and slow else 1))}
            for workload in workloads
            for slow, backend in enumerate(BACKENDS)
            for trial in range(trials)
            for number, name in enumerate(NAMES)
        ]
    )


def scaled(workloads=tuple(WORKLOADS), trials=3, actors=(16,)):
    return pd.DataFrame(
        [
            point(workload, actors=size)
            | {"kind": kind, "workers": str(count), "trials": str(trials), "status": "ok"}
            | {"speedup": str(count**power), "low": str(0.9 * count**power), "high": str(1.2 * count**power)}
            for workload in workloads
            for size in actors
            for kind, power, counts in (
                ("predicted", 0.9, WORKERS),
                ("predicted_paid", 0.7, WORKERS),
                ("predicted_here", 0.6, (1, 2, 4)),
                ("measured", 0.5, (1, 2, 4)),
            )
            for count in counts
        ]
    )


DRAW = {"breakdown": (breakdown.phases, taken_apart), "scaling": (scaling.speed_up, scaled)}


@pytest.fixture(params=sorted(DRAW))
def name(request):
    return request.param


def draw(name, frame):
    with style.applied():
        figure = DRAW[name][0](frame)
        FigureCanvasAgg(figure).draw()
    return figure


@pytest.mark.parametrize(
    "count", first(1, [4, 3, 2, 1], "a figure for each number of points; the most is always tried")
)
def test_no_text_is_cut_or_overlaps_another(name, count):
    figure = draw(name, DRAW[name][1](tuple(WORKLOADS)[:count]))
    texts = written(figure)
    for text, box in texts:
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1, f"{text!r} leaves the page"
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1, f"{text!r} leaves the page"
    for (one, its_box), (other, other_box) in itertools.combinations(texts, 2):
        assert not overlap(its_box, other_box), f"{one!r} overlaps {other!r}"


@pytest.mark.slow(reason="each figure is saved twice, as others are")
def test_the_same_rows_in_any_order_give_the_same_bytes(name, tmp_path):
    frame = DRAW[name][1]()
    first = style.save(draw(name, frame), tmp_path, "first")
    again = style.save(draw(name, frame.sample(frac=1.0, random_state=1)), tmp_path, "again")
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.suffix


@pytest.mark.parametrize("column", ["workload", "parameters", "status"])
def test_a_missing_column_is_named(name, column):
    with pytest.raises(FigureError, match=f"{name}.csv: column '{column}' is missing; expected "):
        draw(name, DRAW[name][1]().drop(columns=column))


@pytest.mark.parametrize("change", [{"status": "time limit"}, {"parameters": "no JSON"}], ids=["failed", "broken"])
def test_what_cannot_be_drawn_is_refused_in_one_line(name, change):
    for frame in (DRAW[name][1]().assign(**change), DRAW[name][1]().head(0)):
        with pytest.raises(FigureError) as refusal:
            draw(name, frame)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("column", "value"), [("speedup", "fast"), ("speedup", "-1"), ("workers", ""), ("low", "nan")])
def test_a_cell_that_is_no_speed_up_is_refused(column, value):
    with pytest.raises(FigureError):
        draw("scaling", scaled().assign(**{column: value}))


def test_phases_have_colours_of_their_own():
    colours = {phase.color for phase in breakdown.PHASES.values()}
    assert len(colours) == len(breakdown.PHASES)
    assert not colours & {style.look(backend).color for backend in style.known()}


def test_a_bar_is_the_share_of_each_phase_and_a_backend_without_all_phases_has_none():
    frame = taken_apart(("q_learning",), trials=1)
    frame = frame[(frame["phase"] != "hub") | (frame["backend"] != "ray-tuned")]
    (axes,) = draw("breakdown", frame).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [style.look(name).label for name in BACKENDS[:-1]]
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == pytest.approx([100 * part / 21 for _ in BACKENDS[:-1] for part in range(1, 7)])


def test_a_round_that_recording_changes_is_marked():
    drawn = [text for text, _ in written(draw("breakdown", taken_apart(("q_learning",))))]
    assert sum(text.endswith(" µs*") for text in drawn) == len(BACKENDS) - 1
    assert any(text.startswith("Beside the bars") and "*: recording made" in text for text in drawn)


def test_the_largest_point_is_shown_and_the_others_are_counted():
    drawn = [text for text, _ in written(draw("scaling", scaled(("q_learning",), actors=(4, 16, 2))))]
    assert any("16 actors" in text for text in drawn)
    assert any("Not shown: 2 other points of scaling.csv." in text for text in drawn)


@pytest.mark.slow(reason="every figure of a run; `make test` draws each by itself")
def test_they_are_drawn_where_there_are_rows_and_a_broken_one_leaves_the_rest(tmp_path, make_rows):
    made = make_rows(1, ("serial", "reactor-processes", "ray-paper", "gymnasium-async", "reactor-vector"))
    lines = []
    broken = pd.DataFrame([{"kind": "measured"}])
    drawn = figures.draw(material(made, breakdown=taken_apart(), scaling=broken), tmp_path / "figures", lines.append)
    assert [path.stem for path in drawn[::2]] == [one for one in figures.CAPTIONS if one != "scaling"]
    (line,) = lines
    assert line.startswith("scaling: not drawn: scaling.csv: column 'workload' is missing; expected workload, scenario")


def test_an_interval_as_wide_as_the_sky_does_not_hide_the_values():
    frame = scaled(("q_learning",))
    frame.loc[frame["kind"] == "measured", "high"] = "1e12"
    (axes,) = draw("scaling", frame).axes
    assert 64**0.9 < axes.get_ylim()[1] < 10 * 64


def test_they_are_drawn_where_nothing_else_can_be(tmp_path, make_rows):
    only = material(make_rows(1).head(0), scaling=scaled(), limit_shares={})
    assert [path.name for path in figures.draw(only, tmp_path / "figures")] == ["scaling.svg", "scaling.png"]


def test_a_file_from_before_messages_were_paid_for_has_its_curves():
    frame = scaled(("q_learning",))
    (axes,) = draw("scaling", frame).axes
    known = {"messages free", "measured: reactors, processes", "serial loop"}
    more = {"messages paid", "on these cores"}
    assert set(axes.get_legend_handles_labels()[1]) == known | more
    figure = draw("scaling", frame[frame["kind"].isin(("predicted", "measured"))])
    assert set(figure.axes[0].get_legend_handles_labels()[1]) == known
    assert not any("Messages paid" in text for text, _ in written(figure))
