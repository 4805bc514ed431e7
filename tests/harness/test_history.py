"""Numbers over commits: runs of one machine in order of their commits, whatever else lies beside them."""

import json
import subprocess

import pytest

from harness import machine
from harness.grid import SCHEMA
from harness.results import GRID_NAME
from tests.harness.runs import MACHINE, grid, session, write

COMMITS = {"a" * 40: "2026-03-01T00:00:00Z", "b" * 40: "2026-03-02T00:00:00Z", "c" * 40: "2026-03-03T00:00:00Z"}


def commit_session(commit, **changes):
    return session(commit=commit, commit_time=COMMITS[commit], started_at="2026-05-01T00:00:00Z", **changes)


@pytest.fixture
def runs(tmp_path):
    """Three runs, named so that their names tell nothing of their order."""
    root = tmp_path / "runs"
    for name, commit, factor in (("z", "a", 1.0), ("x", "b", 0.8), ("y", "c", 1.6)):
        write(root / name, factors={"reactor-inline": factor}, sessions=[commit_session(commit * 40)])
    return root


def values(done):
    assert done.returncode == 0, done.stderr
    return [(one["commit"], round(one["value"], 3)) for one in json.loads(done.stdout)["values"]]


def test_runs_stand_in_the_order_of_their_commits(harness, runs):
    assert values(harness("history", runs, "--json")) == [("aaaaaaa", 1.0), ("bbbbbbb", 1.25), ("ccccccc", 0.625)]


def test_a_line_per_run(harness, runs):
    done = harness("history", runs)
    assert "gym_sampling CartPole-v1, 2 actors, reactor-inline: speedup over serial" in done.stdout
    assert [line.split()[:3] for line in done.stdout.splitlines()[3:]] == [
        ["2026-03-01", "aaaaaaa", "1.00x"],
        ["2026-03-02", "bbbbbbb", "1.25x"],
        ["2026-03-03", "ccccccc", "0.625x"],
    ]


def test_other_metrics_baselines_and_backends(harness, runs):
    assert values(harness("history", runs, "--against", "ray-paper", "--json"))[1] == ("bbbbbbb", 100.0)
    times = values(harness("history", runs, "--metric", "round_time", "--backend", "serial", "--json"))
    assert [value for _, value in times] == pytest.approx([100_000.0] * len(times), rel=0.01)
    assert harness("history", runs, "--against", "ray-tuned").returncode == 2
    assert harness("history", runs, "--workload", "overhead").returncode == 2


def test_by_default_all_runs_below_results(harness, tmp_path):
    write(tmp_path / "results/runs/one", sessions=[commit_session("a" * 40)])
    assert len(values(harness("history", "--json"))) == 1


def test_a_changed_tree_is_marked_and_repetitions_stand_side_by_side(harness, runs):
    write(runs / "again", sessions=[commit_session("b" * 40, dirty=True)])
    labels = [commit for commit, _ in values(harness("history", runs, "--json"))]
    assert sorted(labels) == ["aaaaaaa", "bbbbbbb", "bbbbbbb*", "ccccccc"]


def test_machines_are_not_mixed(harness, runs):
    other = {**MACHINE, "cpu": {**MACHINE["cpu"], "model": "Pascaline"}}
    write(runs / "other", described=other, sessions=[commit_session("a" * 40) | {"started_at": "2026-01-01T00:00:00Z"}])
    done = harness("history", runs, "--json")
    assert len(values(done)) == 3
    assert done.stderr.startswith("harness: left out: 1 runs of another machine: Pascaline")
    assert len(values(harness("history", runs, "--machine", "pascal", "--json"))) == 1
    assert harness("history", runs, "--machine", "a").returncode == 2


def of_schema(path, schema):
    """The run with files of this schema; None for those that name none."""
    described = json.loads((path / GRID_NAME).read_text()) | {"schema": schema}
    kept = {name: value for name, value in described.items() if value is not None or name != "schema"}
    (path / GRID_NAME).write_text(json.dumps(kept))


def test_schemas_are_not_mixed(harness, runs):
    of_schema(runs / "z", SCHEMA - 1)
    of_schema(runs / "x", None)
    done = harness("history", runs, "--json")
    assert values(done) == [("ccccccc", 0.625)]
    assert done.stderr == (
        f"harness: left out: runs whose values mean something else than in schema {SCHEMA}: "
        f"1 of schema 1, 1 of schema {SCHEMA - 1}\n"
    )


def test_runs_that_all_have_an_older_schema_are_compared(harness, runs):
    for name in "xyz":
        of_schema(runs / name, SCHEMA - 1)
    done = harness("history", runs, "--json")
    assert (len(values(done)), done.stderr) == (3, "")


def test_runs_of_before_there_was_a_grid_are_compared(harness, runs):
    for name in "xyz":
        (runs / name / GRID_NAME).unlink()
    done = harness("history", runs, "--json")
    assert (len(values(done)), done.stderr) == (3, "")


def test_what_cannot_be_read_is_left_out_and_told(harness, runs):
    (runs / "broken").mkdir()
    (runs / "broken" / "measurements.csv").write_text("no rows\n")
    write(runs / "mixed", sessions=[commit_session("a" * 40), commit_session("b" * 40)])
    write(runs / "nowhere")
    (runs / "nowhere" / machine.FILE_NAME).unlink()
    done = harness("history", runs, "--json")
    assert len(values(done)) == 3
    assert done.stderr.count("left out: ") == 3


def test_the_repository_tells_when_a_commit_was_made(harness, tmp_path):
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=machine.__file__.rpartition("/")[0],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    if not head:
        pytest.skip("the code is in no repository")
    run = write(tmp_path / "run", sessions=[session(commit=head)])
    (told,) = json.loads(harness("history", run, "--json").stdout)["runs"]
    assert told["time"] == machine.commit_time(head) != session()["started_at"]
    assert machine.commit_time("f" * 40) is None


def test_the_figure_is_the_same_every_time(harness, runs, tmp_path):
    def drawn():
        done = harness("history", runs, "-o", tmp_path / "figure.svg")
        assert done.returncode == 0, done.stderr
        return [(tmp_path / name).read_bytes() for name in ("figure.svg", "figure.png")]

    first = drawn()
    assert first == drawn()
    assert first[0].startswith(b"<?xml")


def test_where_it_cannot_be_drawn(harness, runs, tmp_path):
    for output in (tmp_path / "figure.txt", tmp_path / "nowhere" / "figure.svg"):
        done = harness("history", runs, "-o", output)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert harness("history", tmp_path).returncode == 2
    assert harness("history", tmp_path / "nowhere").returncode == 2


def test_a_history_is_not_written_to(harness, runs, tmp_path):
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
    harness("history", runs, "-o", tmp_path / "figure.svg")
    assert before == {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}


def test_a_label_tells_points_of_different_runs_apart(harness, tmp_path):
    for number, actors in enumerate((2, 3)):
        chosen = grid(points=[("gym_sampling", {"actors": actors, "rounds": 50})])
        write(tmp_path / "runs" / str(number), chosen=chosen, sessions=[commit_session("a" * 40)])
    panels = {one["panel"] for one in json.loads(harness("history", tmp_path / "runs", "--json").stdout)["values"]}
    assert panels == {"gym_sampling CartPole-v1, 2 actors", "gym_sampling CartPole-v1, 3 actors"}
