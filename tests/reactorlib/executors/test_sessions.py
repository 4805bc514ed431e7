"""Sessions on processes: whatever ends them, no process stays behind."""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from reactorlib import RunError, WorkerError
from tests.choice import first
from tests.reactorlib.executors.conftest import PATIENCE_S
from tests.reactorlib.executors.driven import opened
from tests.reactorlib.executors.programs import noted
from tests.reactorlib.executors.test_signals import Victim, alive, ended

ALL_ENDED = ["echo 0 ended", "echo 1 ended", "echo 2 ended"]


def victim(what: str, log: str) -> Victim:
    return Victim(what, log, module="tests.reactorlib.executors.driven")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("what", ["idle", "in_step", "other_thread"])
def test_a_parent_that_a_signal_kills_leaves_no_process(what: str, number: signal.Signals, log: str) -> None:
    with victim(what, log) as process:
        os.kill(process.process.pid, number)
        assert process.end()[0] == -number
        assert process.gone()
    assert ended(log) == []


@pytest.mark.parametrize("what", ["idle", "in_step", "between"])
def test_ctrl_c_ends_a_session_with_its_shutdown_reactions(what: str, log: str) -> None:
    with victim(what, log) as process:
        os.killpg(process.process.pid, signal.SIGINT)
        status, errors = process.end()
        assert process.gone()
    assert ended(log) == ALL_ENDED
    assert "KeyboardInterrupt" in errors
    assert status in (1, -signal.SIGINT, 130)


def test_a_session_that_is_collected_leaves_no_process(log: str) -> None:
    with victim("collected", log) as process:
        assert process.pids() - {process.process.pid}
        until = time.monotonic() + PATIENCE_S
        while any(alive(pid) for pid in process.pids() - {process.process.pid}):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert process.process.poll() is None


@pytest.mark.parametrize("what", ["forgotten", "forked"])
def test_a_process_that_ends_leaves_none(what: str, log: str) -> None:
    process = victim(what, log)
    status, errors = process.end()
    assert (status, errors) == (0, "")
    assert process.gone()
    if what == "forked":
        assert ended(log) == ALL_ENDED
        assert any("it is a copy of that of process" in line for line in noted(log))
    else:
        assert ended(log) == []


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_that_dies_is_one_clear_error(method: str, log: str) -> None:
    session = opened(log, start_method=method)
    with pytest.raises(WorkerError, match=r"worker 1 .*Echoes.echoes\[1\]\) exited with status 3"):
        session.step(inp="die")
    with pytest.raises(RunError, match="the session is closed: WorkerError ended it"):
        session.step(inp=1)
    assert session.close() is None


def test_a_step_that_hangs_can_be_given_up(log: str) -> None:
    session = opened(log)
    session.begin(inp=1)
    assert session.finish(timeout=PATIENCE_S) == {"out": [1, 1, 1]}
    pids = [process.pid for process in session._execution.executor.processes.values()]
    os.kill(pids[0], signal.SIGSTOP)
    session.begin(inp=1)
    with pytest.raises(TimeoutError):
        session.finish(timeout=0.05)
    session.kill()
    assert not any(alive(pid) for pid in pids)
    assert session.close() is None


@pytest.mark.parametrize("seed", first(6, range(20), "repetition in search of races"))
def test_a_worker_killed_at_any_moment_ends_the_session_with_one_error(seed: int, log: str) -> None:
    draw = random.Random(seed)
    session = opened(log)
    pids = [process.pid for process in session._execution.executor.processes.values()]
    killer = threading.Timer(draw.random() * 0.02, os.kill, (draw.choice(pids), signal.SIGKILL))
    killer.start()
    until = time.monotonic() + PATIENCE_S

    def use() -> None:
        while time.monotonic() < until:
            (session.step if killer.is_alive() or draw.random() < 0.5 else session.close)()

    with pytest.raises(WorkerError, match="was killed by SIGKILL"):
        use()
    killer.join()
    assert session.closed
    assert not any(alive(pid) for pid in pids)


def memories() -> int:
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found += "memfd:reactorlib" in str(descriptor.readlink())
    return found


@pytest.mark.parametrize(
    "how", first(2, ["kill", "forget", "close", "die"], "memory is looked at for each ending; two are always tried")
)
def test_a_session_that_has_ended_leaves_no_memory(how: str, log: str) -> None:
    gc.collect()
    before = memories()
    session: Any = opened(log)
    assert memories() > before
    if how == "die":
        with pytest.raises(WorkerError):
            session.step(inp="die")
    elif how != "forget":
        getattr(session, how)()
    del session
    for _ in range(2):  # where the first one finds the session, the second finds what it ran
        gc.collect()
    assert memories() == before


def test_a_session_on_ranks_is_refused_with_what_to_use(log: str) -> None:
    with pytest.raises(RunError, match=r"whose script the others serve: mpiexec -n 4 python -m reactorlib\.mpi"):
        opened(log, executor="mpi")
