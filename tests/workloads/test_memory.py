"""What a control group grants counts, where it is less than the machine has."""

import psutil
import pytest

from workloads import memory

MIB = 2**20


@pytest.mark.parametrize(
    ("limit", "total", "free"), [(str(64 * MIB), 64 * MIB, 54 * MIB), ("max", None, None), (None, None, None)]
)
def test_the_limit_of_the_control_group_counts(limit, total, free, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    if limit is not None:
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        (tmp_path / "memory.current").write_text(f"{30 * MIB}\n")
        (tmp_path / "memory.stat").write_text(f"anon {10 * MIB}\ninactive_file {20 * MIB}\n")
    assert memory.total() == (total or psutil.virtual_memory().total)
    assert memory.free() == free or (free is None and memory.free() > 0)
