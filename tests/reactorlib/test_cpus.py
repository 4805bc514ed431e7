"""How many processors and how much memory there are to use, and what control groups take off."""

import os

import pytest

from reactorlib.cpus import available_cpus, quota_cpus
from reactorlib.transport.memory import default_capacity

ROOT = "0::/\n"
SLURM = "0::/system.slice/slurmd/job_7\n"
VERSION_1 = "5:cpuset:/other\n4:memory:/slurm/job_7\n3:cpu,cpuacct:/slurm/job_7\n0::/\n"
GIB = 1 << 30


def test_some_processors_are_available():
    assert available_cpus() >= 1


@pytest.fixture
def grouped(tmp_path, monkeypatch):
    """Makes up the control groups of this process: its own, and files by path."""

    def make(own, files):
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            (tmp_path / "mount" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "mount" / name).write_text(text)
        monkeypatch.setattr("reactorlib.cpus.OWN_GROUPS", tmp_path / "own")
        monkeypatch.setattr("reactorlib.cpus.GROUPS", tmp_path / "mount")

    return make


@pytest.mark.parametrize(
    ("own", "files", "cpus"),
    [
        (ROOT, {"cpu.max": "150000 100000\n"}, 2),
        (ROOT, {"cpu.max": "100000 100000\n"}, 1),
        (ROOT, {"cpu.max": "max 100000\n"}, None),
        (ROOT, {"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
        (ROOT, {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        (ROOT, {"cpu.max": "torn", "cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        (ROOT, {}, None),
        ("", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/../..\n", {"cpu.max": "150000 100000\n"}, 2),
        (SLURM, {"system.slice/slurmd/job_7/cpu.max": "300000 100000\n"}, 3),
        (SLURM, {"system.slice/cpu.max": "300000 100000\n", "cpu.max": "700000 100000\n"}, 3),
        (SLURM, {"system.slice/slurmd/job_8/cpu.max": "300000 100000\n"}, None),
        (VERSION_1, {"cpu/slurm/cpu.cfs_quota_us": "400000\n", "cpu/slurm/cpu.cfs_period_us": "100000\n"}, 4),
        ("0::/docker/a\n", {"cpu.max": "200000 100000\n"}, 2),
    ],
)
def test_the_quota_of_the_control_groups(own, files, cpus, grouped):
    grouped(own, files)
    assert quota_cpus() == cpus


@pytest.mark.parametrize(
    ("own", "files", "limit"),
    [
        (ROOT, {"memory.max": "max\n"}, None),
        (ROOT, {"memory.max": f"{GIB}\n"}, GIB),
        (SLURM, {"system.slice/slurmd/memory.max": f"{GIB}\n", "memory.max": f"{2 * GIB}\n"}, GIB),
        (VERSION_1, {"memory/slurm/job_7/memory.limit_in_bytes": f"{GIB}\n"}, GIB),
        (VERSION_1, {"memory/slurm/job_8/memory.limit_in_bytes": f"{GIB}\n"}, None),
    ],
)
def test_the_least_limit_of_memory_counts(own, files, limit, grouped):
    grouped(own, files)
    assert default_capacity() == (limit or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) * 7 // 10
