"""Backends on two nodes: they compute what the plain loop does, and say why where there can be no two nodes."""

import csv
import os
import sys

import pytest

from harness.cli.commands import main
from tests.choice import first
from workloads import ranks, two_nodes
from workloads.parameter import UnsupportedError

LAUNCHERS = {
    "HYDRA build details": ["-hosts node0:2,node1:1 -n 3", "-launcher-exec /dev/shm/rsh"],
    "mpirun (Open MPI) 5.0": ["--host node0:2,node1:1", "--prtemca plm_ssh_agent /dev/shm/rsh"],
}


@pytest.fixture
def permitted():
    if reason := two_nodes.why_not():
        pytest.skip(f"no two nodes here: {reason}")


@pytest.mark.real
@pytest.mark.parametrize(
    "backend",
    first(
        1,
        ["reactor-nodes", "ray-pooled-nodes", "ray-pooled-compiled-nodes", "ray-paper-nodes"],
        "Ray on two nodes takes long to start",
    ),
)
def test_what_runs_on_two_nodes_computes_what_the_loop_does(backend, permitted, tmp_path):
    if backend == "reactor-nodes":
        pytest.importorskip("mpi4py")
    point = ["--workload", "gym_sampling", "--set", "actors=3", "--set", "rounds=20"]
    chosen = ["--preset", "nodes", *point, "--backend", "serial", "--backend", backend]
    assert main(["run", *chosen, "--trials", "1", "--output", str(tmp_path / "out")]) == 0
    with (tmp_path / "out" / "measurements.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["status"] for row in rows} == {"ok"}
    assert {row["backend"] for row in rows} == {"serial", backend}
    assert len({row["digest"] for row in rows}) == 1


def test_without_the_tools_it_is_unsupported(monkeypatch):
    monkeypatch.setattr(two_nodes, "_TOOLS", "/nowhere")
    with pytest.raises(UnsupportedError, match="no two nodes here: no unshare"):
        ranks.go_to_two_nodes("harness.measure.side", b"")


@pytest.mark.parametrize("version", LAUNCHERS)
def test_half_of_the_ranks_are_on_each_node(version, monkeypatch, tmp_path):
    monkeypatch.setattr(two_nodes, "_SHELL", tmp_path / "rsh")
    launcher = tmp_path / "mpiexec"
    launcher.write_text(f"#!{sys.executable}\nprint({version!r})\n")
    launcher.chmod(0o755)
    job = " ".join(two_nodes.across([str(launcher)], 3)).replace(str(tmp_path), "/dev/shm")
    assert all(words in job for words in LAUNCHERS[version])
    assert os.access(tmp_path / "rsh", os.X_OK)
