"""The limit of a control group counts where the machine has more."""

import psutil
import pytest

from workloads import memory

MIB = 2**20


@pytest.mark.parametrize("version", [1, 2])
def test_the_limit_of_the_control_group_counts(version, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    names = ("limit_in_bytes", "usage_in_bytes", "stat") if version == 1 else ("max", "current", "stat")
    counted = "total_inactive_file" if version == 1 else "inactive_file"
    folder = tmp_path / "memory" if version == 1 else tmp_path
    values = 64 * MIB, 30 * MIB, f"anon 1\n{counted} {20 * MIB}"
    folder.mkdir(exist_ok=True)
    for name, value in zip(names, values, strict=True):
        (folder / f"memory.{name}").write_text(f"{value}\n")
    assert (memory.total(), memory.free()) == (64 * MIB, 54 * MIB)
    (folder / "memory.stat").unlink()
    assert memory.free() == 34 * MIB


@pytest.mark.parametrize("limit", ["max", str(2**63 - 4096), None])
def test_without_a_limit_the_machine_counts(limit, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    if limit is not None:
        (tmp_path / "memory.max").write_text(limit)
    assert memory.total() == psutil.virtual_memory().total
    assert 0 < memory.free() <= memory.total()
