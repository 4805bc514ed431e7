"""The handler of a signal may raise at any moment: then the session is as before, or has ended, and can be closed."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from reactorlib import RunError, Session
from reactorlib.worker.context import current
from tests.choice import first
from tests.reactorlib.executors import driven
from tests.reactorlib.scripts import printed

IN_FINALIZERS = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
EXECUTORS = ["inline", "threads", "processes"]


def opened(executor: str) -> Session:
    return driven.opened(executor=executor, workers=None if executor == "inline" else 2)


def whole(session: Session, step: Any) -> None:
    assert step(3) == [3, 3, 3]


def named(session: Session, step: Any) -> None:
    assert session.step(inp=3) == {"out": [3, 3, 3]}


def halves(session: Session, step: Any) -> None:
    step.begin(3)
    assert step.finish(20) == [3, 3, 3]


def closing(session: Session, step: Any) -> None:
    assert session.close() is not None


def interrupted_at(moment: int, do: Callable[[], None]) -> bool:
    """Raise at the n-th moment, below `do`, at which Python handles signals; whether it came to that.

    That is where a function begins, and after calls of functions that are not written in Python.
    """
    left = moment + 1  # the call of `do` itself

    def look(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal left
        left -= event in ("call", "c_return")
        if left < 0:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(look)
    try:
        do()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


@IN_FINALIZERS
@pytest.mark.parametrize("what", [whole, named, halves, closing], ids=["whole", "named", "halves", "closing"])
@pytest.mark.parametrize("executor", first(2, EXECUTORS, "a process for each of some hundred moments"))
def test_whenever_it_is_interrupted_a_session_can_be_closed(executor: str, what: Any) -> None:
    moment, reached = 0, True
    while reached:
        session = opened(executor)
        step = session.stepper(("inp",), ("out",))
        assert step(2) == [2, 2, 2]
        reached = interrupted_at(moment, lambda: what(session, step))  # noqa: B023
        assert current.worker is None
        assert session._pending is None or session.closed or what is halves
        if not session.closed and session._pending is None:
            assert step(5) == [5, 5, 5]
        session.close()
        assert session.closed
        moment += 1
    assert moment > 10  # how many there are depends on how often a wait looks


@pytest.mark.parametrize("executor", EXECUTORS)
def test_signals_at_random_moments_leave_sessions_that_can_be_closed(executor: str) -> None:
    """In a process of its own, where nothing else is interrupted."""
    call = f"from {__name__} import interrupt_at_random_moments; interrupt_at_random_moments({executor!r})"
    assert int(printed("-c", call, timeout=100)) > 20


def repeat(step: Any, until: float) -> None:
    """A function of its own: Python 3.14 does not guard the jump back of a loop that stands in a `try`."""
    while time.monotonic() < until:
        assert step(2) == [2, 2, 2]


def interrupt_at_random_moments(executor: str) -> None:
    """Open, interrupt and close 30 sessions; prints how many were interrupted."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    draw, interrupted = random.Random(1), 0
    signal.signal(signal.SIGPROF, interrupt)
    for _ in range(30):
        session = opened(executor)
        step = session.stepper(("inp",), ("out",))
        until = time.monotonic() + 1  # where it is raised in a finalizer, nobody hears of it
        try:
            signal.setitimer(signal.ITIMER_PROF, draw.uniform(1e-4, 3e-3))
            repeat(step, until)
            signal.setitimer(signal.ITIMER_PROF, 0)
        except KeyboardInterrupt:
            interrupted += 1
        assert current.worker is None
        session.close()
        assert session.closed
    print(interrupted)


def test_one_that_is_not_the_caller_s_gives_no_batch() -> None:
    pytest.importorskip("numpy")
    with opened("processes") as session:
        assert session.batch((3,)).array.shape == (3,)
    with pytest.raises(RunError, match=r"batch\(\): the session is closed"):
        session.batch((3,))


# Other processes than that of a plain script


def in_a_script(body: str) -> str:
    """The output of a script with this main part, which may use `opened`, `os`, `signal`, `time` and `mp`."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    script = (
        "import multiprocessing as mp, os, signal, time\n"
        "from tests.reactorlib.executors.test_session_interrupts import opened\n"
        "def forgets():\n"
        "    global kept\n"
        "    kept = opened('processes')\n"
        "    print(kept.step(inp=2), flush=True)\n"
        "def opens():\n"
        "    try:\n"
        "        opened('processes')\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__, error, flush=True)\n"
        f"if __name__ == '__main__':\n    mp.set_start_method('fork')\n{lines}"
    )
    return printed("-c", script, start_new_session=True).strip()


def test_a_process_of_multiprocessing_ends_though_it_forgot_a_session() -> None:
    said = in_a_script(
        """
process = mp.Process(target=forgets)
process.start()
process.join(20)
print(process.exitcode)
process.kill()
"""
    )
    assert said.splitlines() == ["{'out': [2, 2, 2]}", "0"]


def test_a_daemonic_process_may_open_none_on_processes() -> None:
    said = in_a_script("process = mp.Process(target=opens, daemon=True); process.start(); process.join(20)")
    assert said.startswith('RunError executor="processes" in a daemonic process')


@pytest.mark.parametrize("early", [True, False])
def test_a_handler_of_the_caller_s_keeps_workers_alive_whenever_it_was_installed(early: bool) -> None:
    handle = "signal.signal(signal.SIGTERM, lambda *_: print('handled', flush=True))"
    said = in_a_script(
        f"""
{handle if early else ""}
session = opened("processes")
{handle}
os.killpg(0, signal.SIGTERM)
time.sleep(0.5)
print(session.step(inp=3))
session.close()
"""
    )
    assert said.splitlines() == ["handled", "{'out': [3, 3, 3]}"]


def test_a_fork_s_copy_has_no_batches_of_the_original_s_memory() -> None:
    said = in_a_script(
        """
session = opened("processes")
def copy():
    try:
        session.batch((3,))
    except Exception as error:
        print(error, flush=True)
process = mp.Process(target=copy)
process.start()
process.join(20)
session.close()
"""
    )
    assert said.startswith("batch(): the session is closed: it is a copy of that of process ")
