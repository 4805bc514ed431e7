"""What the README tells a reader to type does what it says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.__main__ import _COMMANDS
from harness.arguments import parser

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
HARNESS = ".venv/bin/python -m harness "


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands(prefix):
    """Commands in blocks of their own and within sentences."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    within = re.findall(r"`([^`\n]+)`", README)
    return sorted({line for line in lines + within if line.startswith(prefix)})


def python_block(containing):
    (found,) = [block for block in blocks("python") if containing in block]
    return found


def execute(arguments, **options):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        arguments, capture_output=True, text=True, timeout=60, env=environment, check=False, **options
    )


def test_the_quick_start_prints_what_the_readme_shows(tmp_path):
    done = execute([sys.executable, "-c", python_block("import Bank")], cwd=tmp_path)
    (shown,) = blocks("text")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", shown)


def test_the_csv_is_read_as_shown(tmp_path):
    reference = tmp_path / "results" / "reference"
    reference.mkdir(parents=True)
    (reference / "measurements.csv").write_text(
        "workload,scenario,backend,metric,value,status\n"
        "q_learning,Blackjack-v1,serial,round_time,4000,ok\n"
        "q_learning,Blackjack-v1,serial,round_time,6000,ok\n"
        "q_learning,Blackjack-v1,serial,round_time,,timeout\n"
    )
    done = execute([sys.executable, "-c", python_block("read_csv")], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "5000.0" in done.stdout


@pytest.mark.parametrize("command", commands("make "))
def test_make_knows_the_targets(command):
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    dry = command.replace("make ", "make --dry-run ", 1)
    done = execute(shlex.split(dry), cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", commands(HARNESS))
def test_the_harness_knows_the_options(command):
    assert parser(_COMMANDS).parse_args(shlex.split(command.removeprefix(HARNESS))).command


@pytest.mark.parametrize("command", commands(HARNESS + "run"))
def test_the_harness_plans_the_runs(command):
    arguments = shlex.split(command.removeprefix(HARNESS))
    done = execute([sys.executable, "-m", "harness", *arguments, "--dry-run"], cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:workloads|plots|results|reactorlib)/[\w./]+)`", README))))
def test_files_that_are_named_exist(path):
    assert (ROOT / path).exists() or path.startswith(("results/runs", "results/latest"))  # made by runs


def test_links_within_the_repository_lead_somewhere():
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\((?!https?:|#)([^)]+)\)", prose)
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_generated_results_have_their_place():
    assert README.count("<!-- results:begin -->") == README.count("<!-- results:end -->") == 1
    assert README.index("<!-- results:begin -->") < README.index("<!-- results:end -->")
