"""How worker processes start where nobody chose: the same rule, and the same digest, wherever a program is typed."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path

import pytest

from reactorlib import Reactor, RunError, reaction, run, startup
from reactorlib.executors.start_method import VARIABLE, choose_start_method, obstacle_to_rebuilding
from tests.reactorlib.scripts import LIMIT_S, ROOT, printed

PROGRAM = """
from reactorlib import *

class Member(Reactor):
    tick = Timer(0, 1 * MSEC)
    inp, out = Input[int](), Output[int]()

    @reaction(tick, uses=inp, effects=out)
    def work(self, tick, inp, out):
        out.set((inp.value or self.bank_index) + 1)

class Main(Reactor):
    def __init__(self):
        self.members = Bank(Member, 3)
        connect(self.members[0].out, self.members[2].inp)

"""
CALL = "run(Main, executor='processes', workers=3, timeout=20 * MSEC, fast=True, trace=True)"
SHOW = f"print(*((r.start_method, r.digest) for r in [{CALL}]))\n"


class Plain(Reactor):
    def __init__(self, given: object = None) -> None:
        self.given = given

    @reaction(startup)
    def begin(self) -> None: ...


@contextmanager
def another_thread() -> Iterator[None]:
    over = threading.Event()
    # Of a method in C, as of a worker thread's target, `__module__` is None.
    thread = threading.Thread(target=copy_context().run, args=(over.wait,), name="writer")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture
def nobody_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    """No choice by the environment, and no thread but the test's."""
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(threading, "enumerate", _of_the_test([*threading.enumerate()]))


def _of_the_test(runners: list[threading.Thread]) -> object:
    everyone = threading.enumerate
    return lambda: [one for one in everyone() if one not in runners or one is threading.current_thread()]


def chosen(asked: str | None = None, **parameters: object) -> str:
    return choose_start_method(asked, lambda: obstacle_to_rebuilding(Plain, parameters))


@pytest.mark.usefixtures("nobody_chose")
def test_a_process_with_one_thread_is_forked() -> None:
    assert chosen() == chosen(given=lambda: 0) == "fork"


@pytest.mark.usefixtures("nobody_chose")
def test_next_to_another_thread_a_fork_server_starts_what_can_be_made_anew() -> None:
    with another_thread():
        assert chosen() == chosen(given=[1, "two"]) == "forkserver"


@pytest.mark.usefixtures("nobody_chose")
def test_next_to_another_thread_the_rest_is_forked_with_a_warning_that_says_why() -> None:
    with another_thread():
        with pytest.warns(RuntimeWarning, match=r"writer.* Plain cannot be sent"):
            assert chosen(given=lambda: 0) == "fork"
        with pytest.warns(RuntimeWarning, match="not in a new process"):
            assert choose_start_method(None, lambda: "it is not in a new process") == "fork"


def test_the_warning_is_shown_once_with_the_line_of_the_user(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import threading; over = threading.Event(); threading.Thread(target=over.wait, name='writer').start()\n"
        + PROGRAM
        + f"for _ in range(2): {CALL}\nSession(Main, executor='processes', workers=2).close(); over.set()\n"
    )
    environment = {name: value for name, value in os.environ.items() if name not in (VARIABLE, "PYTHONWARNINGS")}
    run = subprocess.run([sys.executable, script], text=True, capture_output=True, timeout=LIMIT_S, check=True,
                         env=environment | {"PYTHONPATH": str(ROOT)})  # fmt: skip
    lines = script.read_text().splitlines()
    last = len(lines)
    shown = [line.split(":")[1] for line in run.stderr.splitlines() if "RuntimeWarning" in line]
    assert shown == [str(last - 1), str(last)], run.stderr


def test_the_caller_s_choice_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    with another_thread():
        monkeypatch.setenv(VARIABLE, "spawn")
        assert chosen() == "spawn"
        assert chosen("fork") == "fork"
        with pytest.raises(RunError, match=r"'thread'.* one of .*fork"):
            chosen("thread")


def test_what_multiprocessing_was_told_is_a_choice() -> None:
    code = (
        "import multiprocessing as m; from reactorlib.executors.start_method import choose_start_method as choose\n"
        "print(choose(None, lambda: None)); m.set_start_method('spawn'); print(choose(None, lambda: None))"
    )
    assert said_by("-c", code).split() == ["fork", "spawn"]


def test_the_method_is_in_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "forkserver")
    assert run(Plain, executor="processes", workers=2).start_method == "forkserver"
    assert run(Plain, executor="threads", workers=2).start_method == ""


def test_where_warnings_are_errors_a_fork_next_to_a_thread_starts_no_process() -> None:
    """Python 3.15 raises its own warning once the new process is there, and nobody would know it."""
    code = (
        "import threading, warnings, subprocess, os; warnings.simplefilter('error'); over = threading.Event()\n"
        "thread = threading.Thread(target=over.wait); thread.start()\n"
        + PROGRAM
        + f"try: {CALL}\nexcept RuntimeWarning as warning: print('refused:', warning)\n"
        f"print({CALL[:-1]}, start_method='fork').start_method)\n"
        "print(subprocess.run(['ps', '--ppid', str(os.getpid()), '-o', 'comm='], text=True, "
        "capture_output=True).stdout.count('python'))\n"
        "over.set()\n"
    )
    refused, forked, left = said_by("-c", code).splitlines()
    assert refused.startswith("refused: worker processes are forked next to other threads")
    assert (forked, left) == ("fork", "0")


def said_by(*arguments: str | Path, given: str | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return printed(*arguments, input=given, env=environment | {"PYTHONPATH": str(ROOT)})


def typed(lines: str) -> str:
    """The output of a Python under a pseudo-terminal when these lines are typed."""
    try:
        parent, child = pty.openpty()
    except OSError:
        pytest.skip("the system has no pseudo-terminals")
    environment = {name: value for name, value in os.environ.items() if name not in (VARIABLE, "PYTHONSTARTUP")}
    environment |= {"PYTHONPATH": str(ROOT), "TERM": "dumb", "PYTHON_BASIC_REPL": "1", "PYTHON_COLORS": "0"}
    process = subprocess.Popen([sys.executable, "-q"], stdin=child, stdout=child, stderr=child, env=environment)
    os.close(child)
    try:
        for line in (*lines.replace("\n\n    ", "\n    ").splitlines(), "exit()"):  # an empty line ends a class
            os.write(parent, line.encode() + b"\n")
        printed, until = b"", time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < until:
            if select.select([parent], [], [], 0.1)[0]:
                printed += _read(parent)
        assert process.poll() == 0, printed.decode()
        return printed.decode()
    finally:
        process.kill()
        process.wait()
        os.close(parent)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # its other end is closed
        return b""


def in_a_notebook(cell: str) -> str:
    """The output of a Jupyter kernel for a cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's packages
        manager = pytest.importorskip("jupyter_client.manager")
        pytest.importorskip("ipykernel")
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        kernel, client = manager.start_new_kernel(kernel_name="python3", env=environment | {"PYTHONPATH": str(ROOT)})
        printed: list[str] = []

        def hear(message: dict[str, object]) -> None:
            content = message["content"]
            assert isinstance(content, dict)
            printed.append(content.get("text") or "\n".join(content.get("traceback", ())))

        try:
            client.execute_interactive(cell, output_hook=hear, timeout=LIMIT_S)
        finally:
            client.stop_channels()
            kernel.shutdown_kernel(now=True)
        return "".join(printed)


def test_a_program_has_one_digest_wherever_its_source_is(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PROGRAM + SHOW)
    inline = run_inline(tmp_path)
    for command, given in (([script], None), (["-c", PROGRAM + SHOW], None), (["-"], PROGRAM + SHOW)):
        assert f"('fork', '{inline}')" in said_by(*command, given=given)


def test_a_program_that_is_typed_at_a_terminal_has_the_same_digest(tmp_path: Path) -> None:
    assert f"('fork', '{run_inline(tmp_path)}')" in typed(PROGRAM + SHOW)


def test_a_program_in_a_notebook_has_the_same_digest(tmp_path: Path) -> None:
    shown = in_a_notebook(PROGRAM + SHOW)
    assert f"('fork', '{run_inline(tmp_path)}')" in shown
    assert "Warning" not in shown


def run_inline(folder: Path) -> str:
    script = folder / "inline.py"
    script.write_text(PROGRAM + "print(run(Main, timeout=20 * MSEC, fast=True, trace=True).digest)")
    return said_by(script).strip()
