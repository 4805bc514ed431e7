"""Which backends and points the figures show unless told otherwise."""

import pytest

from harness.report.figure_material import material
from harness.report.summary import summarise
from tests.harness import runs

BACKENDS = ("serial", "reactor-inline", "reactor-processes", "ray-paper", "ray-tuned", "ray-pooled", "lockstep")


@pytest.fixture
def summary(tmp_path):
    chosen = runs.grid(backends=BACKENDS, points=tuple(("multi_agent", {"agents": count}) for count in (4, 10)))
    faster = {"ray-pooled": 2.0, "ray-tuned": 4.0, "ray-paper": 1.0}
    return summarise(runs.write(tmp_path / "run", chosen=chosen, factors=faster, change=lambda row: row))


def test_figures_show_loop_reactors_best_ray_the_paper_s_and_the_ceiling(summary):
    drawn = material(summary)
    assert set(drawn.measurements["backend"]) == {
        "serial", "reactor-processes", "ray-paper", "ray-pooled", "lockstep",
    }  # fmt: skip
    assert set(material(summary, all_backends=True).measurements["backend"]) == set(BACKENDS)
    assert set(drawn.vectors["backend"]) == set(BACKENDS)


def test_of_points_of_a_workload_the_one_with_most_agents_has_the_panel(summary):
    (title,) = material(summary).limit_shares
    assert "10 agents" in title
