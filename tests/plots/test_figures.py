"""Every figure, drawn from full, partial and empty rows."""

import functools
import itertools
import json

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from harness.stats.intervals import Estimate
from plots import figures, hardware_limit, published, style
from plots.errors import FigureError
from plots.material import Material
from tests.choice import first
from workloads.catalogue import BACKENDS as BACKENDS_TO_RUN

DRAW = figures.FIGURES
BACKENDS = (
    "serial",
    "reactor-inline",
    "reactor-threads",
    "reactor-processes",
    "ray-paper",
    "ray-tuned",
    "ray-pooled",
    "ray-compiled",
)
COMPARED = ("serial", "reactor-processes", "ray-paper")
VECTORS = ("gymnasium-async", "reactor-vector")


@pytest.fixture(params=sorted(DRAW))
def name(request):
    return request.param


def draw(name, measurements):
    with style.applied():
        figure = DRAW[name](measurements)
        FigureCanvasAgg(figure).draw()
    return figure


@pytest.fixture(scope="module")
def drawn(make_rows):
    """A figure, drawn once: `drawn(name, trials)` of rows of the main backends, or of others."""

    @functools.cache
    def cached(name, trials, backends):
        return draw(name, make_rows(trials, (*backends, *VECTORS) if name == "vectors" else backends))

    return lambda name, trials, backends=BACKENDS: cached(name, trials, backends)


def written(figure):
    """(text, box in pixels) of everything that is written in a drawn figure."""
    outside = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
        if not axes.get_visible()
        or not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
        for label in (tick.label1, tick.label2)
    }
    hidden = {one for axes in figure.axes if not axes.get_visible() for one in axes.findobj(Text)}
    renderer = figure.canvas.get_renderer()
    return [
        (one.get_text(), one.get_window_extent(renderer))
        for one in figure.findobj(Text)
        if one.get_visible() and one.get_text().strip() and one not in outside | hidden
    ]


def overlap(one, other, margin=1.0):
    return (
        one.x0 + margin < other.x1
        and other.x0 + margin < one.x1
        and one.y0 + margin < other.y1
        and other.y0 + margin < one.y1
    )


@pytest.mark.parametrize(
    ("trials", "backends"),
    first(
        1,
        [(5, BACKENDS), (1, BACKENDS), (5, COMPARED), (1, COMPARED)],
        "four figures of each kind; one is always tried",
    ),
    ids=["five trials", "one trial", "three backends", "three backends, one trial"],
)
def test_no_text_is_cut_or_overlaps_another(name, trials, backends, drawn):
    figure = drawn(name, trials, backends)
    page = figure.bbox
    for text, box in written(figure):
        assert page.x0 <= box.x0 < box.x1 <= page.x1, f"{text!r} leaves the page"
        assert page.y0 <= box.y0 < box.y1 <= page.y1, f"{text!r} leaves the page"
    for (one, its_box), (other, other_box) in itertools.combinations(written(figure), 2):
        assert not overlap(its_box, other_box), f"{one!r} overlaps {other!r}"


def test_values_close_together_are_named_in_two_lines_or_not(make_rows):
    frame = make_rows(1, COMPARED)
    frame = frame[(frame["workload"] == "broadcast_gather") & (frame["actors"] == "16")]
    close = [frame.assign(object_bytes=str(kib * 2**10)) for kib in (64, 96, 104, 160, 1024, 10240, 102400)]
    for one, kib in zip(close, (64, 96, 104, 160, 1024, 10240, 102400), strict=True):
        one["parameters"] = f'{{"actors": 16, "object_bytes": {kib * 2**10}, "work_seconds": 0.0}}'
    figure = draw("broadcast_gather_size", pd.concat(close))
    labels = {text: box for text, box in written(figure) if text.endswith("iB")}
    assert labels.keys() == {"64 KiB", "96 KiB", "1 MiB", "10 MiB", "100 MiB", "300 MiB", "500 MiB"}
    assert labels["96 KiB"].y1 <= labels["64 KiB"].y0
    for one, other in itertools.combinations(labels.values(), 2):
        assert not overlap(one, other, margin=0.0)
    assert any("up to 100 KiB within a message" in text for text, _ in written(figure))


def test_axes_have_units_and_intervals_are_explained(name, drawn):
    figure = drawn(name, 5)
    for axes in figure.axes:
        if axes.get_visible():
            assert axes.get_xlabel()
    assert any("95 % interval" in text for text, _ in written(figure))


@pytest.mark.parametrize("name", first(3, sorted(DRAW), "a figure of each kind once more; three are always tried"))
def test_one_trial_is_said_to_have_no_interval(name, drawn):
    figure = drawn(name, 1)
    assert any("One trial of each" in text for text, _ in written(figure))


@pytest.mark.parametrize("name", first(3, sorted(DRAW), "each figure is drawn and saved; three are always tried"))
def test_names_are_shown_letter_by_letter(name, full_rows, tmp_path):
    odd = "$x^{2$"
    try:
        figure = draw(name, full_rows.assign(scenario=odd + full_rows["scenario"]))
    except FigureError:
        pytest.skip("drawn of scenarios with certain names only")
    style.save(figure, tmp_path, name)


def test_empty_rows_are_refused_in_one_line(name, full_rows):
    with pytest.raises(FigureError) as refusal:
        draw(name, full_rows.head(0))
    assert "\n" not in str(refusal.value)


def test_only_failed_rows_are_refused(name, full_rows):
    with pytest.raises(FigureError):
        draw(name, full_rows.assign(status="timeout", value=""))


def test_rows_without_the_needed_columns_are_refused(name, full_rows):
    with pytest.raises(FigureError):
        draw(name, full_rows[["workload", "backend", "trial"]])


@pytest.mark.parametrize("name", first(1, sorted(DRAW), "each figure is saved twice; one is always tried"))
def test_the_same_rows_in_any_order_give_the_same_bytes(name, make_rows, tmp_path):
    made = make_rows(3, (*COMPARED, *VECTORS))
    shuffled = made.sample(frac=1.0, random_state=1)
    first = style.save(draw(name, made), tmp_path, "first")
    again = style.save(draw(name, shuffled), tmp_path, "again")
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.suffix


def test_a_users_matplotlibrc_changes_nothing(tmp_path, full_rows):
    import matplotlib as mpl

    plain = style.save(draw("q_learning", full_rows), tmp_path, "plain")
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "savefig.transparent": True}):
        changed = style.save(draw("q_learning", full_rows), tmp_path, "changed")
    assert plain[0].read_bytes() == changed[0].read_bytes()


PUBLISHED = (
    "broadcast_gather_actors",
    "broadcast_gather_size",
    "gym_sampling",
    "atari_sampling",
    "q_learning",
    "multi_agent_agents",
    "multi_agent_steps",
)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_values_stand_beside_ours_marked_as_such(name, drawn):
    texts = [text for text, _ in written(drawn(name, 5))]
    assert "Ray, published" in texts
    assert "Lingua Franca, published" in texts
    assert any("published in 2024" in text for text in texts)


@pytest.mark.parametrize("name", first(1, PUBLISHED, "each figure is drawn once more; one is always tried"))
def test_figures_are_drawn_without_the_published_file(name, full_rows, tmp_path, monkeypatch):
    monkeypatch.setattr(published, "PATH", tmp_path / "absent.csv")
    drawn = [text for text, _ in written(draw(name, full_rows))]
    assert not any("published" in text for text in drawn)


def test_every_published_figure_of_ours_is_in_the_file():
    for name in (*PUBLISHED[:-1], "multi_agent_episodes"):
        assert {series.system for series in published.series(name)} == {"ray", "lf"}


def test_every_backend_of_the_catalogue_has_a_look_of_its_own():
    assert set(style.known()) == set(BACKENDS_TO_RUN)


def test_no_two_backends_look_alike():
    looks = [style.look(backend) for backend in style.known()]
    assert len({look.color for look in looks}) == len({look.marker for look in looks}) == len(looks)


SHARES = {
    "Gymnasium: CartPole-v1\n15 actors": {
        "serial": Estimate(53.3, 50.0, 56.0, 5),
        "reactor-inline": Estimate(80.0, 79.0, 81.0, 5),
    },
    "Traffic Junction\n10 agents": {"ray-paper": Estimate(1.5, 1.2, 1.8, 3)},
}


def test_shares_of_the_limit_stand_beside_their_dots_in_a_panel_each():
    with style.applied():
        figure = hardware_limit.fraction(SHARES, 2)
    found = {
        axes.get_title(loc="left"): sorted(text.get_text() for text in axes.texts)
        for axes in figure.axes
        if axes.get_visible()
    }
    assert found == {
        "Gymnasium: CartPole-v1\n15 actors": ["53.3", "80.0"],
        "Traffic Junction\n10 agents": ["1.50"],
    }


@pytest.mark.parametrize(("cores", "said"), [(1, "1 core"), (2, "2 cores"), (None, "the cores")])
def test_a_figure_of_shares_of_the_limit_says_of_how_many_cores(cores, said):
    assert said in hardware_limit.fraction(SHARES, cores).texts[0].get_text()


def test_without_a_limit_no_shares_are_drawn():
    with pytest.raises(FigureError, match="no workload has a backend beside a limit"):
        hardware_limit.fraction({}, 2)


def test_from_where_on_ray_is_as_good_is_told_along_each_axis(make_rows):
    template = make_rows(2, ("reactor-processes", "ray-pooled"))
    template = template[(template["workload"] == "gym_sampling") & (template["metric"] == "throughput")]
    template = template[template["scenario"] == "CartPole-v1"].drop_duplicates(["backend", "trial"])
    found = []
    places = [("busy:20us", 1), ("busy:200us", 1), ("busy:2ms", 1), ("busy:200us:1000", 1), ("busy:200us", 10)]
    for env, steps in places:
        frame = template.copy()
        frame["parameters"] = json.dumps({"actors": 8, "env": env, "steps_per_message": steps})
        frame["scenario"] = env
        ours = frame["backend"] == "reactor-processes"
        frame["value"] = "100"
        frame.loc[ours, "value"] = {"busy:20us": "400", "busy:2ms": "105"}.get(env, "200")
        found.append(frame)
    free = found[0].assign(scenario="busy:0us")
    free["parameters"] = json.dumps({"actors": 8, "env": "busy:0us", "steps_per_message": 1})
    figure = DRAW["crossover"](pd.concat([*found, free]))

    def lines_of(axes):
        return [
            [(float(x), round(float(y), 9)) for x, y in zip(*line.get_data(), strict=True)]
            for container in axes.containers
            for line in [container[0]]
        ]

    time, size, steps, hidden = figure.axes
    assert not hidden.get_visible()
    assert time.get_title(loc="left").replace("\n", " ") == "4 B an observation, 1 step a message"
    assert lines_of(time) == [[(20_000, 4.0), (200_000, 2.0), (2_000_000, 1.05)]]
    assert lines_of(size) == [[(4, 2.0), (1_000, 2.0)]]
    assert lines_of(steps) == [[(1, 2.0), (10, 2.0)]]


def material(measurements, **changes):
    """What the harness hands over: these measurements, and shares of the limit."""
    given = {"breakdown": pd.DataFrame(), "scaling": pd.DataFrame(), "limit_shares": SHARES, "cores": 2}
    return Material(measurements, measurements, **(given | changes))


@pytest.mark.slow(reason="every figure, saved twice; `make test` draws each by itself")
def test_draw_writes_every_figure_as_svg_and_png(tmp_path, make_rows):
    files = figures.draw(material(make_rows(2, (*COMPARED, *VECTORS))), tmp_path / "deep" / "figures", pytest.fail)
    names = [path.name for path in files]
    expected = [name for name in figures.CAPTIONS if name not in figures.FURTHER]
    assert names == [f"{name}.{kind}" for name in expected for kind in ("svg", "png")]
    assert all(path.stat().st_size > 5_000 for path in files)


def test_draw_says_what_cannot_be_drawn_and_draws_the_rest(tmp_path, make_rows):
    lines, made = [], make_rows(2, (*COMPARED, *VECTORS))
    sampling = made[made["workload"] == "gym_sampling"]
    files = figures.draw(material(sampling, limit_shares={}), tmp_path / "figures", lines.append)
    assert {path.stem for path in files} == {
        "step_time", "gym_sampling", "granularity", "crossover", "vectors", "round_time",
    }  # fmt: skip
    assert len(lines) == len(figures.CAPTIONS) - len(figures.FURTHER) - 6
    assert "q_learning: not drawn: no successful rows of q_learning with the metric throughput" in lines
    assert any(line.startswith("hardware_limit: not drawn: ") for line in lines)


def test_draw_without_anything_to_draw_says_why(tmp_path, full_rows):
    with pytest.raises(FigureError, match="no figure can be drawn; first reason: step_time: not drawn"):
        figures.draw(material(full_rows.head(0), limit_shares={}), tmp_path / "figures")


def test_without_two_environments_and_the_loop_no_cost_by_step_time_is_drawn(make_rows):
    frame = make_rows(2, COMPARED)
    for left in (frame[frame["scenario"] == "Pong"], frame[frame["backend"] != "serial"]):
        with pytest.raises(FigureError, match="fewer than two environments with the backend serial"):
            draw("step_time", left)


def test_draw_into_something_that_is_no_directory_is_refused(tmp_path, full_rows):
    (tmp_path / "figures").write_text("a file")
    with pytest.raises(FigureError, match="expected a directory to write figures into"):
        figures.draw(material(full_rows), tmp_path / "figures")


@pytest.mark.parametrize("value", ["0", "-1500000.0"])
def test_overhead_that_noise_makes_zero_or_negative_is_drawn(full_rows, value):
    frame = full_rows.copy()
    frame.loc[(frame["metric"] == "overhead") & (frame["backend"] == "serial"), "value"] = value
    assert draw("broadcast_gather_actors", frame).axes


def test_speed_up_needs_a_sweep_of_the_step_count(full_rows):
    single = full_rows[full_rows["steps_per_message"] != "10"]
    single = single[single["steps_per_message"] != "100"]
    with pytest.raises(FigureError, match="expected two or more values, as from --set steps_per_message=1,10,100"):
        draw("granularity", single)


def test_a_throughput_of_zero_is_refused(full_rows):
    frame = full_rows.copy()
    frame.loc[frame["metric"] == "throughput", "value"] = "0"
    with pytest.raises(FigureError, match="column 'value' holds '0'"):
        draw("multi_agent_agents", frame)


def test_environments_that_are_slowed_to_the_papers_pace_have_panels_of_their_own(full_rows):
    own = full_rows[full_rows["workload"] == "multi_agent"]

    def slowed(busy_us):
        return own.assign(
            parameters=[json.dumps(json.loads(text) | {"step_busy_us": busy_us}) for text in own["parameters"]]
        )

    figure = draw("multi_agent_agents", pd.concat([slowed(0.0), slowed(200.0)]))
    titles = [axes.get_title(loc="left").replace("\n", " ") for axes in figure.axes if axes.get_visible()]
    assert titles == ["4 agents", "4 agents, steps of 200 µs", "10 agents", "10 agents, steps of 200 µs"]
