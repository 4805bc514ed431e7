"""The program that prints the kernel's claims works as a command: here with sizes that prove nothing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.kernel_claims import __main__ as command
from benchmarks.kernel_claims.claim import Claim
from benchmarks.kernel_claims.processes import process_cost

ROOT = Path(__file__).resolve().parents[2]


def run_module(*arguments):
    line = [sys.executable, *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)


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
    assert {part for part in command.PARTS if f"measuring {part} ..." in done.stderr} == set(command.PARTS)
    judged = " ".join(claim["name"] for claim in claims if claim["verdict"] in ("PASS", "FAIL"))
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


def test_a_failing_claim_fails_the_command(monkeypatch, capsys):
    def part(size):
        yield Claim("a reaction", [2.0], "us", at_most=1)
        yield Claim("a tag", [2.0], "us", at_most=4)

    monkeypatch.setattr(command, "PARTS", {"one": part})
    assert command.main(["one"]) == 1
    assert capsys.readouterr().out.endswith("1 of 2 lines fail\n  a reaction\n")


def test_an_unknown_part_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["fanout"])
    assert "no part fanout: one of fan-out" in capsys.readouterr().err


def test_a_process_that_fails_is_no_measurement():
    with pytest.raises(RuntimeError, match="ended with 3"):
        process_cost("raise SystemExit(3)", dict(os.environ))


def test_the_suite_for_pytest_benchmark_runs():
    done = run_module("-m", "pytest", "benchmarks/kernel", "--benchmark-disable", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
