"""The pages' words on Ray agree with its sessions, its backends and the recorded runs."""

import json
import re

import pytest

from harness.plan.presets import PRESETS
from tests import pages
from tests.pages import DOCS, PAGES, README, ROOT
from workloads.ray_styles import QUIET, STYLES

METHODOLOGY = (DOCS / "methodology.md").read_text(encoding="utf-8")
# Since then Ray's calls are packed, and its tensors are pickled as arrays.
CALLS_ARE_PACKED = "2026-11-25T20:50:00Z"
# Since then equal arrays in the replies of a share are joined before Ray's backends pickle them.
REPLIES_ARE_JOINED = "2026-11-26T19:41:00Z"
RUNS_OF_PAGES = {
    README: ("quick", "reference"),
    ROOT / "ARTIFACT.md": ("quick", "reference"),
    DOCS / "paper.md": ("reference", "crossover", "threads"),
    DOCS / "howto" / "reproduce-a-figure.md": ("reference",),
    DOCS / "threads.md": ("threads",),
    DOCS / "rllib.md": ("rllib",),
    DOCS / "several-machines.md": ("nodes",),
    DOCS / "methodology.md": ("quick", "reference", "crossover", "threads", "rllib", "nodes"),
}
SAID_OF_THOSE = "measured before Ray's replies were joined"


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


def started(run):
    sessions = json.loads((ROOT / "results" / run / "machine.json").read_text(encoding="utf-8"))["sessions"]
    return min(session["started_at"] for session in sessions)


@pytest.mark.parametrize("run", RUNS_OF_PAGES[DOCS / "methodology.md"])
def test_published_runs_are_of_packed_calls(run):
    assert started(run) >= CALLS_ARE_PACKED


@pytest.mark.parametrize("page", RUNS_OF_PAGES, ids=pages.name)
def test_pages_say_which_runs_are_of_an_earlier_ray(page):
    words = " ".join(page.read_text(encoding="utf-8").split())
    assert (SAID_OF_THOSE in words) == any(started(run) < REPLIES_ARE_JOINED for run in RUNS_OF_PAGES[page])


def test_a_backend_that_a_page_calls_missing_is_missing():
    for preset in ("quick", "paper"):
        assert not {"ray-tuned", "ray-compiled"} & set(PRESETS[preset].backends)
    assert "`quick` leaves out `ray-tuned` and `ray-compiled`, and so does `paper`" in METHODOLOGY
    assert "(ray-compiled)" not in (DOCS / "threads.md").read_text(encoding="utf-8")  # as the best Ray of a point


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_no_page_forgets_that_the_driver_holds_a_share(page):
    assert not re.search(r"\bactor per core\b", " ".join(pages.prose(page).split()))
