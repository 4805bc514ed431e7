"""Functions whose source is written while a program runs: a fault in one of them shows its line."""

from __future__ import annotations

import struct
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from reactorlib import Input, Output, ReactionError, Reactor, WorkerError, connect, reaction, run, startup
from reactorlib.transport.codec_compiler import CodecCompiler
from reactorlib.transport.generated import emptied, loaded


def lines_of(error: BaseException) -> list[str]:
    """The lines of source in a traceback."""
    return [str(frame.line) for frame in traceback.extract_tb(error.__traceback__)]


class Faulty(Reactor):
    out = Output[int]()

    @reaction(startup, effects=out)
    def fail(self, out: Any) -> None:
        raise ValueError("as asked")


@pytest.mark.parametrize(("executor", "workers"), [("inline", None), ("threads", 2), ("processes", 2)])
def test_a_fault_in_a_schedule(monkeypatch: pytest.MonkeyPatch, executor: str, workers: int | None) -> None:
    monkeypatch.setenv("REACTORLIB_SCHEDULES", "compiled")
    with pytest.raises(ReactionError) as caught:
        run(Faulty, executor=executor, workers=workers)
    assert caught.value.__cause__ is not None
    assert any(line.startswith("fail_(") for line in lines_of(caught.value.__cause__))


def codec(of: str) -> Callable[..., Any]:
    compiler = CodecCompiler(("(", "q", "q"), bytes(8))
    return compiler.encoder() if of == "encoder" else compiler.decoder()


@pytest.mark.parametrize(
    ("function", "arguments", "line"),
    [
        ("encoder", ((1, 1 << 64), (1,)), "return pack("),
        ("decoder", (bytes(12),), "v1, v2, = unpack_from(data)"),
    ],
)
def test_a_fault_in_a_codec(function: str, arguments: Any, line: str) -> None:
    with pytest.raises(struct.error) as caught:
        codec(function)(*arguments)
    assert lines_of(caught.value)[-1].startswith(line)


class Sender(Reactor):
    out = Output[Any]()

    @reaction(startup, effects=out)
    def send(self, out: Any) -> None:
        out.set(lambda: None)


class Receiver(Reactor):
    inp = Input[Any]()

    @reaction(inp)
    def hear(self, inp: Any) -> None: ...


class Pair(Reactor):
    def __init__(self) -> None:
        self.sender, self.receiver = Sender(), Receiver()
        connect(self.sender.out, self.receiver.inp)


def test_a_fault_in_a_message() -> None:
    with pytest.raises(WorkerError, match=r"sender\.out: a value of type function") as caught:
        run(Pair, executor="processes", workers=2, placement={"Pair.sender": 0, "Pair.receiver": 1})
    assert "raise blame(error) from error.__cause__" in lines_of(caught.value)


def test_two_texts_with_one_title_show_their_own_lines() -> None:
    for line in ("return 1 / zero", "return 2 / zero"):
        divide = loaded("division", f"def function():\n    {line}\n", {"zero": 0})
        with pytest.raises(ZeroDivisionError) as caught:
            divide()
        assert lines_of(caught.value)[-1] == line


def test_an_emptied_function_lets_its_objects_go_and_still_shows_its_line() -> None:
    divide = loaded("division", "def divide():\n    return 1 / zero\n", {"zero": 0}, "divide")
    emptied(divide)
    assert "zero" not in divide.__globals__
    with pytest.raises(NameError) as caught:
        divide()
    assert lines_of(caught.value)[-1] == "return 1 / zero"
