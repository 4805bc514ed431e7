"""`harness noise`: backends of a run against themselves, in real processes."""

import pytest

from harness.noise.table import NOISE

TWO = ("--workload", "fake", "--backend", "serial", "--backend", "reactor-inline", "--trials", "1")


@pytest.mark.slow(reason="a whole run and six blocks; `make test` has a comparison that fails")
def test_backends_of_a_run_are_compared_with_themselves_in_turns(harness, finished, fake):
    assert finished(*TWO).returncode == 0
    done = harness("noise", "out", "--comparisons", "3", "--trials", "2")
    assert done.returncode == 0, done.stderr
    rows = NOISE.read(fake / "out")
    assert [(row.backend, row.comparison) for row in rows] == [("serial", 0), ("reactor-inline", 1), ("serial", 2)]
    assert all(row.low <= row.ratio <= row.high and row.trials == 2 for row in rows)
    assert all(row.contains_one == (row.low <= 1 <= row.high) and row.metric == "round_time" for row in rows)
    assert "fake good: serial against itself, 2 comparisons of 2 trials" in done.stdout
    assert sorted(path.name for path in (fake / "out").iterdir() if path.name.startswith(".")) == []
    report = harness("report", "out")
    assert "Noise floor" in report.stdout
    again = harness("noise", "out")
    assert (again.returncode, again.stderr) == (
        2,
        "harness: out/noise.csv exists; remove it to measure the noise anew\n",
    )


def test_a_comparison_that_fails_is_a_row_with_its_reason_and_the_exit_status(harness, finished, fake):
    finished(*TWO, "--set", "behaviour=raises")
    done = harness("noise", "out", "--backend", "reactor-inline", "--comparisons", "1", "--trials", "2")
    assert done.returncode == 1
    (row,) = NOISE.read(fake / "out")
    assert (row.ratio, row.contains_one, row.status) == (None, None, "RuntimeError: told to raise")
    assert "1 comparison failed, the first: RuntimeError: told to raise" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--backend", "reactor-inlin"), "backend: unknown 'reactor-inlin'; did you mean reactor-inline"),
        (("--backend", "xronos"), "none of xronos runs fake"),
        (("--workload", "overhead"), "the run has no points of overhead"),
        (("--trials", "1"), "argument --trials: must be at least 2, got 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(harness, finished, arguments, message):
    finished(*TWO)
    done = harness("noise", "out", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
