"""A run in other tools' formats: valid by their schemas, and with the numbers that the run has."""

import json
import os
import subprocess
import sys

import jsonschema
import pytest

from harness.export import FORMATS
from tests.harness import schemas
from tests.harness.runs import COMMIT, WOBBLE, grid, write

POINT = "gym_sampling / CartPole-v1, actors=2"
POINTS = [
    ("gym_sampling", {"actors": 2, "rounds": 50}),
    ("broadcast_gather", {"actors": 2, "object_bytes": 1000, "work_seconds": 0.5, "rounds": 5}),
]


@pytest.fixture
def run(tmp_path):
    return write(tmp_path / "run", chosen=grid(points=POINTS))


def exported(harness, run, form):
    done = harness("export", run, "--format", form, "-o", run.parent / "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    return {line.rpartition("/")[2]: json.loads((run.parent / line).read_text()) for line in done.stdout.splitlines()}


def test_github_has_a_file_for_each_direction(harness, run):
    files = exported(harness, run, "github")
    assert set(files) == {"out.bigger.json", "out.smaller.json"}
    for content in files.values():
        jsonschema.validate(content, schemas.GITHUB)
    bigger, smaller = ({one["name"]: one for one in files[f"out.{word}.json"]} for word in ("bigger", "smaller"))
    assert not bigger.keys() & smaller.keys()
    assert bigger[f"{POINT} / serial / throughput"]["value"] == pytest.approx(2 / 1e-4 / sorted(WOBBLE)[2])
    assert bigger[f"{POINT} / serial / throughput"]["unit"] == "observations/s"
    assert bigger[f"{POINT} / reactor-inline / speedup over ray-paper"]["value"] == pytest.approx(80)
    assert {name.rpartition(" / ")[2] for name in smaller} == {
        "round_time",
        "overhead",
        "startup_time",
        "peak_rss",
        "cpu_time",
    }


def test_bencher(harness, run):
    ((name, content),) = exported(harness, run, "bencher").items()
    assert name == "out.json"
    jsonschema.validate(content, schemas.BENCHER)
    measures = content[f"{POINT} / reactor-inline"]
    assert measures["speedup-over-serial"]["value"] == pytest.approx(1)
    assert measures["round-time"]["lower_value"] <= measures["round-time"]["value"]


def test_pytest_benchmark(harness, run):
    ((_, content),) = exported(harness, run, "pytest-benchmark").items()
    jsonschema.validate(content, schemas.PYTEST_BENCHMARK)
    assert content["commit_info"]["id"] == COMMIT
    found = {one["name"]: one for one in content["benchmarks"]}
    stats = found[f"{POINT} / serial"]["stats"]
    assert stats["median"] == pytest.approx(1e-4 * sorted(WOBBLE)[2])
    assert stats["data"] == pytest.approx([1e-4 * factor for factor in WOBBLE])
    assert found[f"{POINT} / reactor-inline"]["extra_info"]["speedup over ray-paper"] == pytest.approx(80)


def test_pytest_benchmark_reads_its_own_format(harness, run):
    exported(harness, run, "pytest-benchmark")
    done = subprocess.run(
        [sys.executable, "-m", "pytest_benchmark", "compare", str(run.parent / "out.json"), "--columns=median,ops"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=run.parent,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr
    assert "reactor-inline" in done.stdout


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_run_gives_the_same_bytes(harness, run, form):
    def all_bytes():
        exported(harness, run, form)
        return [path.read_bytes() for path in sorted(run.parent.glob("out*.json"))]

    assert all_bytes() == all_bytes()


def test_a_failed_backend_is_left_out_and_told(harness, tmp_path):
    def fail(row):
        return row.failed("no luck") if (row.backend, row.trial) == ("ray-paper", 1) else row

    run = write(tmp_path / "run", change=fail)
    done = harness("export", run, "--format", "bencher", "-o", tmp_path / "out.json")
    assert done.returncode == 0
    assert "failed trials: 1;" in done.stderr
    assert f"{POINT} / ray-paper" not in json.loads((tmp_path / "out.json").read_text())


def test_nothing_to_export_and_nowhere_to_write(harness, tmp_path):
    failed = write(tmp_path / "failed", change=lambda row: row.failed("no luck"))
    run = write(tmp_path / "run")
    for arguments in (
        (failed, "--format", "github", "-o", tmp_path / "out.json"),
        (tmp_path, "--format", "github", "-o", tmp_path / "out.json"),
        (run, "--format", "github", "-o", tmp_path / "nowhere" / "out.json"),
        (run, "--format", "csv", "-o", tmp_path / "out.json"),
    ):
        done = harness("export", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
