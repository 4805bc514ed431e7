"""A number over commits, drawn from rows made up."""

import pandas as pd
import pytest

from plots import history, style
from plots.errors import FigureError


def rows(panels, runs=3):
    return pd.DataFrame(
        [
            {"run": run, "commit": f"c{run}", "panel": f"point {panel}", "backend": backend}
            | {"value": 1.0 + run, "low": 0.9 + run, "high": 1.2 + run, "count": 5}
            for panel in range(panels)
            for run in range(runs)
            for backend in ("serial", "reactor-inline")
        ]
    )


def drawn(frame):
    with style.applied():
        return history.over_commits(frame, "round_time", "ns", "Abacus")


def test_a_panel_for_each_point_and_a_line_for_each_backend():
    figure = drawn(rows(3))
    visible = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in visible] == ["point 0", "point 1", "point 2"]
    assert all(len(axes.containers) == 2 for axes in visible)
    assert [label.get_text() for label in visible[0].get_xticklabels()] == ["c0", "c1", "c2"]


def test_of_many_runs_the_newest_is_named():
    axes = drawn(rows(1, runs=40)).axes[0]
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels[-1] == "c39"
    assert len(labels) <= 12


def test_more_panels_than_a_page_holds_are_refused():
    with pytest.raises(FigureError, match="13 panels; expected 1 to 12"):
        drawn(rows(13))


def test_saved_as_both_formats(tmp_path):
    files = style.save(drawn(rows(1)), tmp_path, "speed")
    assert [path.name for path in files] == ["speed.svg", "speed.png"]
    assert all(path.stat().st_size > 1000 for path in files)
