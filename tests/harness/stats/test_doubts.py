"""Digests are compared, and doubts are found."""

import pytest

from harness.stats import doubts
from harness.store import digests
from harness.store.trial_records import TrialRecord

SPLIT = "digest differs: no majority among a 11111111, b 22222222"
# Rows by what they change of a plausible one, and the reasons by backend and trial.
DIGESTS = {
    "equal": ([{}, {"backend": "ray-paper"}, {"backend": "reactor-inline", "trial": 1}], {}),
    "serial is right even when outvoted": (
        [{"digest": "11-1"}, {"backend": "a", "digest": "22-2"}, {"backend": "b", "digest": "22-2"}],
        dict.fromkeys([("a", 0), ("b", 0)], "digest differs: 22-2, serial has 11-1"),
    ),
    "without serial most backends are right": (
        [{"backend": name, "digest": digest} for name, digest in (("a", "11"), ("b", "22"), ("c", "11"))],
        {("b", 0): "digest differs: 22, most backends have 11"},
    ),
    "without a majority nobody is right": (
        [{"backend": "b", "digest": "2" * 40}, {"backend": "a", "digest": "1" * 40}],
        {("a", 0): SPLIT, ("b", 0): SPLIT},
    ),
    "a backend has one vote however many trials": (
        [{"backend": "a", "digest": "1", "trial": trial} for trial in range(5)]
        + [{"backend": "b", "digest": "2"}, {"backend": "c", "digest": "2"}],
        {("a", trial): "digest differs: 1, most backends have 2" for trial in range(5)},
    ),
    "a later trial that differs from the first": (
        [{}, {"trial": 1, "digest": "other"}],
        {("serial", 1): "digest differs: other, serial has aa-bb"},
    ),
    "points are compared for themselves": ([{}, {"parameters": '{"actors":3}', "digest": "other"}], {}),
    "failed rows and rows without digest do not count": (
        [{"digest": "x", "value": None, "status": "time limit"}, {"backend": "a"}, {"backend": "b", "digest": ""}],
        {},
    ),
}


@pytest.mark.parametrize("case", DIGESTS)
def test_digests_that_disagree(row, case):
    changes, reasons = DIGESTS[case]
    found = digests.disagreements([row(**change) for change in changes])
    assert {(backend, trial): reason for (_, backend, trial), reason in found.items()} == reasons


@pytest.mark.parametrize(
    ("values", "circumstances", "expected"),
    [
        ([1.0] * 5, {}, []),
        ([1.0], {}, ["1 trial"]),
        ([1.0] * 3, {}, ["3 trials"]),
        ([10.0, 10.0, 10.0, 10.0, 14.0], {}, ["spread 17%"]),
        ([1.0] * 5, {"outside_cores": 0.3}, []),
        ([1.0] * 5, {"outside_cores": 0.5}, ["loaded 0.5/4 cores"]),
        ([1.0] * 5, {"steady": True}, []),
        ([1.0] * 5, {"steady": False}, ["unsteady"]),
    ],
)
def test_doubts(values, circumstances, expected):
    trial = TrialRecord("fake", "{}", "serial", 0, "now", 1.0, **{"outside_cores": 0.0} | circumstances)
    assert doubts.doubts(values, [trial], 4) == expected
