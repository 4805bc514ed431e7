"""All workflows: valid, with no more rights than they need, and made of commands that exist."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
LIMIT_S = 60
# All actions are GitHub's own, and pinned to a major version. A fork may pin them by commit.
PINNED = re.compile(r"actions/[\w-]+@(v\d+|[0-9a-f]{40})|pypa/gh-action-pypi-publish@release/v1")


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.stem)
def workflow(request):
    return yaml.safe_load(request.param.read_text())


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_are_workflows():
    assert [path.stem for path in WORKFLOWS] == ["benchmark", "contributed", "release", "tests"]


def test_it_has_no_more_rights_than_it_needs_and_an_end(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] > 0 for job in workflow["jobs"].values())
    assert "pull_request_target" not in workflow[True]  # YAML 1.1 reads the word `on` as true


def test_only_a_job_that_runs_no_code_of_the_pull_request_may_write(workflow):
    for job in workflow["jobs"].values():
        if "write" in job.get("permissions", {}).values():
            assert not any("checkout" in step.get("uses", "") or "make" in step.get("run", "") for step in job["steps"])
    for step in steps(workflow):
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


def test_every_step_does_one_thing_and_every_action_has_a_version(workflow):
    for step in steps(workflow):
        assert ("run" in step) != ("uses" in step)
        assert "uses" not in step or PINNED.fullmatch(step["uses"])


def test_the_steps_are_shell_and_call_what_exists(workflow):
    scripts = [step["run"] for step in steps(workflow) if "run" in step]
    if shutil.which("bash"):
        for script in scripts:
            plain = re.sub(r"\$\{\{.*?\}\}", "value", script)
            subprocess.run(["bash", "-n"], input=plain, text=True, check=True, timeout=LIMIT_S)
    text = "\n".join(scripts)
    for target in re.findall(r"\bmake ([\w-]+)", text):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert all((ROOT / path).exists() for path in re.findall(r"(\.github/[\w.-]+)", text))


def test_the_tests_run_on_every_python_that_the_package_names():
    (tests,) = (yaml.safe_load(path.read_text()) for path in WORKFLOWS if path.stem == "tests")
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text())
    tried = tests["jobs"]["wheel"]["strategy"]["matrix"]["python"]
    assert [python for python in tried if not python.endswith("t")] == named
    assert [python for python in tried if python.endswith("t")]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_asks_for_what_the_doctor_says(path):
    head = yaml.safe_load(path.read_text().split("---\n")[1])
    assert head.keys() == {"name", "about"}
    assert "`python -m harness doctor`" in path.read_text()


def test_the_image_runs_the_benchmark_and_the_tests():
    image = (ROOT / "Dockerfile").read_text()
    assert "make bench" in README
    for command in ("make bench", "make test"):
        assert command in image
    for copied in re.findall(r"^COPY (.*) \S+$", image, re.MULTILINE):
        assert all((ROOT / name).exists() for name in copied.split())


def test_everything_runs_by_one_command_here_too():
    script = ROOT / ".ci" / "run"
    subprocess.run(["bash", "-n", script], check=True, timeout=LIMIT_S)
    for target in re.findall(r'make PYTHON="\$python" ([\w-]+)', script.read_text()):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
