"""The pages' words on Ray agree with its sessions, its backends and the recorded runs."""

import json
import re

import pytest

from harness.plan.presets import PRESETS
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


def test_a_backend_that_a_page_calls_missing_is_missing():
    for preset in ("quick", "paper"):
        assert not {"ray-tuned", "ray-compiled"} & set(PRESETS[preset].backends)
    assert "`quick` leaves out `ray-tuned` and `ray-compiled`, and so does `paper`" in METHODOLOGY
    assert "(ray-compiled)" not in (DOCS / "threads.md").read_text(encoding="utf-8")  # as the best Ray of a point


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_no_page_forgets_that_the_driver_holds_a_share(page):
    assert not re.search(r"\bactor per core\b", " ".join(pages.prose(page).split()))
