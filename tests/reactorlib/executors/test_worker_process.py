"""A worker process ends with worker 0's process, whatever the kernel offers to see that end."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from reactorlib.executors import processes
from reactorlib.executors.processes import ProcessLife

LIMIT_S = 60


@pytest.mark.parametrize("number", [None, errno.ENOSYS, errno.EPERM], ids=["pidfd", "old kernel", "sandbox"])
def test_a_worker_follows_its_parent(number: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int, _flags: int = 0) -> int:
        assert number is not None
        raise OSError(number, os.strerror(number))

    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(processes, "LOOK_AT_PARENT_S", 0.01, raising=False)
    if number is not None:
        monkeypatch.setattr(os, "pidfd_open", refuse)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as parent:
        setup: Any = SimpleNamespace(parent=parent.pid)
        thread = threading.Thread(target=ProcessLife(1, setup)._follow_parent)
        thread.start()
        assert not ended
        assert parent.stdin is not None
        parent.stdin.close()
        parent.wait(LIMIT_S)
    thread.join(LIMIT_S)
    assert ended == [1]
