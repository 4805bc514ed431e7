"""The pages' words on Ray agree with its sessions, its backends and the recorded runs."""

import json
import re
import statistics

import pytest

from harness.grouping import grouped
from harness.store.measurement_table import MEASUREMENTS
from tests import pages
from tests.pages import DOCS, PAGES, ROOT
from workloads.ray_styles import QUIET, STYLES

METHODOLOGY = (DOCS / "methodology.md").read_text(encoding="utf-8")
RUNS = ("quick", "reference", "crossover", "threads", "rllib", "nodes", "vectors")  # a user's may lie beside them


def settings(column):
    """The number in a column of the table of Ray's settings, by the variable that it is of."""
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in METHODOLOGY.splitlines() if line.startswith("|")
    ]
    return {
        name: float(re.split(r"[ ,]", row[column])[0]) for row in rows for name in re.findall(r"`(RAY_\w+)`", row[0])
    }


def test_the_table_of_settings_is_that_of_the_sessions():
    assert settings(2) == {name: float(value) for name, value in (QUIET | STYLES["tuned"] | STYLES["compiled"]).items()}
    assert STYLES["paper"] == {}  # the column of ray-paper says: Ray's defaults


def test_all_runs_are_of_one_commit():
    assert "All runs are of one commit, but for the files in `results/advice` and" in METHODOLOGY
    paths = [ROOT / "results" / run / "machine.json" for run in RUNS]
    sessions = [one for path in paths for one in json.loads(path.read_text(encoding="utf-8"))["sessions"]]
    (commit,) = {one["commit"] for one in sessions}
    contributed = [
        json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "results/contributed").glob("*.json")
    ]
    assert commit in [one["commit"] for one in contributed]
    assert not any(one["dirty"] for one in sessions)


def test_a_backend_that_is_gone_was_never_the_best_ray():
    gone, compared = {"ray-tuned", "ray-compiled"}, 0
    assert "At no published point was one of them the best Ray" in METHODOLOGY
    for path in (ROOT / "results").glob("*/measurements.csv"):
        rows = [row for row in MEASUREMENTS.read(path.parent) if row.metric == "throughput" and row.ok]
        for own in grouped(rows, lambda row: row.point).values():
            rays = grouped((row for row in own if row.backend.startswith("ray")), lambda row: row.backend)
            means = {name: statistics.fmean(row.value for row in of_one) for name, of_one in rays.items()}
            compared += bool(gone & means.keys())
            assert max(means, key=means.get, default="") not in gone
    assert compared > 10


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_no_page_forgets_that_the_driver_holds_a_share(page):
    assert not re.search(r"\bactor per core\b", " ".join(pages.prose(page).split()))
