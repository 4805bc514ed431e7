"""The program that prints the kernel's claims works as a command: here with sizes that prove nothing."""

import os
import re
import subprocess

import pytest

from benchmarks import paths
from benchmarks.kernel_claims import __main__ as command
from benchmarks.kernel_claims.claim import Claim, claim, lines
from benchmarks.kernel_claims.messages import REGIMES, bend, costs
from benchmarks.kernel_claims.processes import process_ns
from benchmarks.kernel_claims.table import PARTS, TINY, Row, cost
from benchmarks.structures import Star
from harness.measure.block import Measured
from harness.measure.measured_processes import Subject
from harness.measure.turn import Turn
from reactorlib import elaborate
from tests.reactorlib.scripts import python


@pytest.mark.slow(reason="every line of the claims is measured; `make test` has the rules for a line")
@pytest.mark.timeout(400)
def test_every_part_prints_its_lines():
    done = python("-m", "benchmarks.kernel_claims", "--tiny", timeout=380)
    assert done.returncode in (0, 1), done.stderr
    about, _, *lines = done.stdout.splitlines()
    assert about.startswith("Python 3.")
    _, count = re.search(r"(\d+) of (\d+) lines fail", done.stdout).groups()
    verdicts = [line.split()[0] for line in lines[: int(count)]]
    assert set(verdicts) <= {"PASS", "OPEN", "FAIL", "INFO"}
    parts = {*PARTS, *command.ONCE}
    assert {part for part in parts if f"measuring {part} ..." in done.stderr} == parts
    judged = " ".join(line for verdict, line in zip(verdicts, lines, strict=False) if verdict != "INFO")
    named = "16", "clients", "trace", "hello world", "growth", "elaborating", "starting", "waiting timer", "walked"
    assert [name for name in named if name not in judged] == []


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (Claim("a", [1.0, 9.0, 2.0], "us", at_most=2), "PASS"),
        (Claim("a", [1.0, 9.0, 3.0], "us", at_most=2), "OPEN"),
        (Claim("a", [3.0, 3.1, 2.9], "us", at_most=2), "FAIL"),
        (Claim("a", [2.0], "x", at_most=4), "PASS"),
        (Claim("a", [5.0], "x", at_most=4), "FAIL"),
        (Claim("a", [2.0], "x"), "INFO"),
        (Claim("a", [], "x"), "FAIL"),
    ],
    ids=lambda value: value.verdict if isinstance(value, Claim) else None,
)
def test_median_and_interval_are_judged(claim, verdict):
    assert claim.verdict == verdict


def test_the_table_has_a_line_for_each_claim():
    found = lines(
        [
            Claim("a reaction", [0.1, 0.3, 0.2], "us", at_most=0.25),
            Claim("half the time", [0.75], "x", at_most=0.5, note="busy"),
            Claim("broken", [], "x", at_most=0.5, note="out of order"),
        ]
    ).splitlines()
    assert [" ".join(line.split()) for line in found] == [
        "claim median limit range",
        "PASS a reaction 0.200 us at most 0.250 0.100 – 0.300",
        "FAIL half the time 0.750 x at most 0.500 busy",
        "FAIL broken - at most 0.500 out of order",
    ]


def test_what_has_a_limit_is_a_ratio():
    assert [row.name for part in PARTS.values() for row in part(TINY) if row.over is None and row.at_most] == []


def blocks(**cpu_ns):
    """A block in which each path's turns take so long per round."""
    return {
        cost(getattr(paths, name)).name: Measured(Subject(name, {}), turns={(0, 0): Turn(2, 2, 2 * time)})
        for name, time in cpu_ns.items()
    }


@pytest.mark.parametrize(
    ("row", "figures", "unit"),
    [
        (Row("a", cost(paths.idle, per=2)), [2.0, 4.0], "us"),
        (Row("a", cost(paths.idle), over=cost(paths.actions)), [4.0, 2.0], "x"),
    ],
)
def test_a_row_is_made_of_the_costs_of_its_paths_block_by_block(row, figures, unit):
    made = claim(row, [blocks(idle=4_000, actions=1_000), blocks(idle=8_000, actions=4_000)])
    assert (made.figures, made.unit) == (pytest.approx(figures), unit)


def test_a_path_that_does_not_run_is_a_failure_without_figures():
    broken = Measured(Subject("idle", {}), failure="RuntimeError: out of order")
    made = claim(Row("a", cost(paths.idle), at_most=1), [{cost(paths.idle).name: broken}])
    assert (made.verdict, made.note) == ("FAIL", "RuntimeError: out of order")


def test_without_a_trace_nothing_of_one_is_in_a_schedule():
    source = elaborate(Star, clients=16).source()
    assert [name for name in ("record(", "clock(", "note(") if name in source] == []


def test_a_failing_claim_fails_the_command_and_an_unknown_part_is_refused(monkeypatch, capsys):
    def part(size):
        yield Claim("a reaction", [2.0], "us", at_most=1)
        yield Claim("a tag", [2.0], "us", at_most=4)

    monkeypatch.setitem(command.ONCE, "one", part)
    assert command.main(["one"]) == 1
    assert capsys.readouterr().out.endswith("1 of 2 lines fail\n  a reaction\n")
    with pytest.raises(SystemExit):
        command.main(["fanout"])
    assert "no part fanout: one of fan-out" in capsys.readouterr().err


def test_a_process_that_fails_is_no_measurement():
    with pytest.raises(subprocess.CalledProcessError, match="exit status 3"):
        process_ns("raise SystemExit(3)", dict(os.environ))


CLIFF = {4: 5.6, 16: 14, 64: 45, 100: 55, 104: 405, 160: 624, 256: 1000, 1024: 3990}  # of rows that were pickled


def test_a_step_in_costs_is_off_every_line():
    assert bend({number: 10 + number for number in (1, 10, 100, 1000)}) == pytest.approx(1)
    assert bend(CLIFF) > 2.5


@pytest.mark.parametrize("regime", [one for one in REGIMES if "megabytes" not in one.name], ids=lambda one: one.name)
def test_the_cost_of_a_message_has_no_cliff(regime):
    assert min(bend(costs(regime, 15)) for _ in range(3)) < 2.2
