"""Of MPICH's files in shared memory, those go that this job has mapped, and no others."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

from reactorlib.mpi import ranks


def mapped(path: Path) -> mmap.mmap:
    path.write_bytes(bytes(mmap.PAGESIZE))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 0)


def test_only_files_that_this_job_has_mapped_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "SHARED", str(tmp_path / "mpich_shm"))
    monkeypatch.chdir(tmp_path)
    mine, replaced, gone = (tmp_path / f"mpich_shm_{name}" for name in ("mine", "replaced", "gone"))
    others, deleted = tmp_path / "mpich_shm_others", tmp_path / "(deleted)"
    maps = [mapped(path) for path in (mine, replaced, gone)]
    for path in (replaced, gone):
        path.unlink()
    for path in (replaced, others, deleted):  # of another job, or of nobody
        path.write_text("other")
    ranks.remove_shared_files()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["(deleted)", "mpich_shm_others", "mpich_shm_replaced"]
    assert len(maps) == 3
