"""The workflow that measures pull requests: when it runs, and the right end for every outcome."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from benchmarks.regress.__main__ import options as regress_options
from benchmarks.regress.trees import MEASURED

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github/workflows/benchmark.yml"
SCRIPT = ROOT / ".github/benchmark-pull-request.sh"
LIMIT_S = 60

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load(WORKFLOW.read_text())


def test_it_runs_on_pull_requests_that_change_what_it_measures(workflow):
    triggers = workflow[True]  # YAML 1.1 reads the word `on` as true
    assert set(triggers) == {"pull_request"}
    paths = triggers["pull_request"]["paths"]
    assert all((ROOT / path.removesuffix("/**")).exists() for path in paths)
    assert {f"{name}/**" for name in (*MEASURED, "benchmarks")} < set(paths)
    assert not any(path.startswith(("tests", "docs", "plots")) for path in paths)


def test_one_job_may_write_a_comment(workflow):
    (writing,) = (job for job in workflow["jobs"].values() if "permissions" in job)
    assert writing["permissions"] == {"pull-requests": "write"}


@pytest.mark.parametrize("path", [SCRIPT])
def test_the_script_is_executable_and_parses(path):
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", path], check=True, timeout=LIMIT_S)


FAKE_PYTHON = """#!/bin/sh
# Ends as told in $FAKE, "WORD=STATUS ..." by the first word that occurs among the arguments; notes what it was asked.
echo "$*" >> "$NOTES"
[ "$MUTE" ] || echo "output of $2 $3"
echo "reason of $2 $3" >&2
for rule in $FAKE; do
  case " $* " in *"${rule%=*}"*) exit "${rule#*=}" ;; esac
done
"""


@pytest.fixture
def pull_request(tmp_path):
    """Runs the script in a repository of two commits, with a fake Python that obeys."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    root = tmp_path / "repository"
    (root / ".github").mkdir(parents=True)
    shutil.copy(SCRIPT, root / ".github")
    python = tmp_path / "python"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)

    def git(*arguments):
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, timeout=LIMIT_S)

    git("init", "--quiet", "--initial-branch=main")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    git("commit", "--quiet", "--allow-empty", "-m", "second")

    def run(fake="", mute=""):
        done = subprocess.run(
            [".github/benchmark-pull-request.sh", "HEAD^1", "benchmark"],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            env={"PATH": os.environ["PATH"], "PYTHON": str(python), "NOTES": str(tmp_path / "notes")}
            | {"FAKE": fake, "MUTE": mute},
        )
        asked = (tmp_path / "notes").read_text().splitlines()
        return done, (root / "benchmark/table.md").read_text(), asked

    return run


def test_no_regression(pull_request):
    done, table, asked = pull_request()
    assert done.returncode == 0, done.stderr
    assert table == "<!-- benchmark -->\noutput of benchmarks.regress --base\n"
    (line,) = asked
    parsed = regress_options().parse_args(line.split()[2:])
    assert (parsed.markdown, parsed.allow) == (True, ("undecided", "digests"))


def test_a_regression_fails(pull_request):
    done, table, _ = pull_request("benchmarks.regress=1")
    assert done.returncode == 1
    assert "output of benchmarks.regress" in table


def test_a_failure_fails_and_shows_its_table(pull_request):
    done, table, _ = pull_request("benchmarks.regress=2")
    assert done.returncode == 2
    assert "output of benchmarks.regress" in table


@pytest.mark.parametrize("status", [1, 2])
def test_an_end_without_a_table_fails_and_says_why(pull_request, status):
    done, table, _ = pull_request(f"benchmarks.regress={status}", mute="yes")
    assert done.returncode == 2
    assert "### No verdict on speed\nreason of benchmarks.regress" in table
    assert done.stdout.count("::error::") == 1
