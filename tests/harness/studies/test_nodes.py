"""The command `nodes`: what it recorded is drawn and told again, and what makes no sense is refused in one line."""

import json
import subprocess
import sys

import pytest

from harness.cli.commands import main
from harness.report.figures import study_figures
from harness.studies.nodes.nodes_run import table
from tests.pages import ROOT

RECORDED = json.loads((ROOT / "results" / "nodes" / "nodes.json").read_text())


def test_what_was_recorded_is_told_and_drawn_again(tmp_path, capsys):
    (tmp_path / "nodes.json").write_text(json.dumps(RECORDED))
    assert main(["nodes", "--again", "--output", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "CartPole, a round: " in out
    assert out.count("digests equal") == 2
    for name in ("latency", "sampling"):
        assert (tmp_path / f"{name}.svg").read_text() == (ROOT / "results" / "nodes" / f"{name}.svg").read_text()


def test_digests_that_differ_are_told_in_the_table_and_in_the_figure():
    rows = json.loads(json.dumps(RECORDED))
    next(row for row in rows if row["engine"] == "ray-pooled" and row["point"] == "Pong")["result"]["digest"] = "0"
    assert sum("digests DIFFER" in line for line in table(rows)) == 1
    assert any("Digests differ!" in note for note in study_figures.node_sampling(rows).notes)


def test_an_engine_that_gave_nothing_is_left_out():
    rows = [row | {"result": None} if row["engine"] == "gloo" else row for row in RECORDED]
    (panel,) = study_figures.latency(rows).panels
    assert panel.curves.keys() == {"mpi", "reactors", "ray"}
    assert study_figures.latency([row for row in RECORDED if row["engine"] != "tcp"]) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--engines", "rey"], "unknown 'rey'"),
        (["--points", "Pongg"], "unknown 'Pongg'; did you mean Pong?"),
        (["--again", "--output", "nowhere"], "No such file or directory"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(words, message, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "harness", "nodes", *words], capture_output=True, text=True, timeout=60, check=False,
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert ended.returncode == 2
    assert message in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
