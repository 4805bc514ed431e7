"""The program that prints the kernel's claims works as a command: here with sizes that prove nothing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import paths
from benchmarks.kernel_claims import __main__ as command
from benchmarks.kernel_claims.claim import Claim
from benchmarks.kernel_claims.measure import _claim, _name
from benchmarks.kernel_claims.processes import process_cost
from benchmarks.kernel_claims.table import PARTS, TINY, Cost, Row
from harness.measure.block import Measured
from harness.measure.subject import Subject
from harness.measure.turn import Turn

ROOT = Path(__file__).resolve().parents[2]


def run_module(*arguments):
    line = [sys.executable, *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=380, check=False)


@pytest.mark.slow(reason="every line of the claims is measured; `make test` has the rules for a line")
@pytest.mark.timeout(400)
def test_every_part_prints_its_lines(tmp_path):
    done = run_module("-m", "benchmarks.kernel_claims", "--tiny", "--json", str(tmp_path / "claims.json"))
    assert done.returncode in (0, 1), done.stderr
    about, *lines = done.stdout.splitlines()
    assert about.startswith("python 3.")
    claims = json.loads((tmp_path / "claims.json").read_text())["claims"]
    assert re.fullmatch(r"(\d+) of (\d+) lines fail", lines[len(claims) + 1])
    for claim, line in zip(claims, lines[1:], strict=False):
        assert line.startswith(f"{claim['verdict']}  {claim['name']}")
        assert claim["verdict"] == "SKIP" or min(claim["figures"]) >= 0
    parts = {*PARTS, *command.ONCE}
    assert {part for part in parts if f"measuring {part} ..." in done.stderr} == parts
    judged = " ".join(claim["name"] for claim in claims if claim["verdict"] in ("PASS", "FAIL", "OPEN"))
    for what in (
        "16",
        "clients",
        "trace",
        "hello world",
        "growth",
        "elaborating",
        "starting",
        "waiting timer",
        "walked",
    ):
        assert what in judged


def test_what_has_a_limit_is_a_ratio():
    assert [row.name for part in PARTS.values() for row in part(TINY) if row.over is None and row.at_most] == []


def blocks(**cpu_ns):
    """A block in which each path's turns take so long per round."""
    return {
        _name(Cost(getattr(paths, name))): Measured(Subject(name, {}), turns={(0, 0): Turn(2, 2, 2 * time)})
        for name, time in cpu_ns.items()
    }


@pytest.mark.parametrize(
    ("row", "figures", "unit"),
    [
        (Row("a", Cost(paths.loop, per=2)), [2.0, 4.0], "us"),
        (Row("a", Cost(paths.loop), over=Cost(paths.chain)), [4.0, 2.0], "x"),
        (Row("a", Cost(paths.loop), beyond=Cost(paths.chain)), [3.0, 4.0], "us"),
        (Row("a", Cost(paths.loop), beyond=Cost(paths.chain), over=Cost(paths.ring)), [6.0, 2.0], "x"),
    ],
)
def test_a_row_is_made_of_the_costs_of_its_paths_block_by_block(row, figures, unit):
    found = [blocks(loop=4_000, chain=1_000, ring=500), blocks(loop=8_000, chain=4_000, ring=2_000)]
    claim = _claim(row, found)
    assert (claim.figures, claim.unit) == (pytest.approx(figures), unit)


def test_a_path_that_cannot_run_is_a_line_without_figures():
    missing = Measured(Subject("loop", {}), failure="ImportError: no such runtime")
    claim = _claim(Row("a", Cost(paths.loop), at_most=1), [{_name(Cost(paths.loop)): missing}])
    assert (claim.verdict, claim.note) == ("SKIP", "ImportError: no such runtime")


def test_a_failing_claim_fails_the_command(monkeypatch, capsys):
    def part(size):
        yield Claim("a reaction", [2.0], "us", at_most=1)
        yield Claim("a tag", [2.0], "us", at_most=4)

    monkeypatch.setitem(command.ONCE, "one", part)
    assert command.main(["one"]) == 1
    assert capsys.readouterr().out.endswith("1 of 2 lines fail\n  a reaction\n")


def test_an_unknown_part_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["fanout"])
    assert "no part fanout: one of fan-out" in capsys.readouterr().err


def test_a_process_that_fails_is_no_measurement():
    with pytest.raises(RuntimeError, match="ended with 3"):
        process_cost("raise SystemExit(3)", dict(os.environ))
