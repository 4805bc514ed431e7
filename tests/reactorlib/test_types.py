"""The types of ports, banks and actions, as a user's type checker knows them: mypy, strict, on a small program."""

from __future__ import annotations

from collections.abc import Callable

import pytest

api = pytest.importorskip("mypy.api")

PROGRAM = """
from typing import Any

from reactorlib import (
    SEC, Bank, Input, LogicalAction, Maybe, Output, Reactor, State, connect, current_tag, reaction, run
)

class Client(Reactor):
    request = Input[int]()
    reply = Output[str]()
    later = LogicalAction[bytes]()
    count = State(0)

    def __init__(self, factor: int) -> None:
        self.factor = factor
        self.untyped: Any = None

    @reaction(request, effects=[reply, later])
    def serve(self, request: Input[int], reply: Output[str], later: LogicalAction[bytes]) -> None:
        reveal_type(request.value)
        reveal_type(request.is_present)
        reveal_type(self.count)
        reply.set("x" * request.value)
        later.schedule(value=b"")
        {wrong}

class Main(Reactor):
    many = Input[float](width=3)

    def __init__(self) -> None:
        self.clients = Bank(Client, 3, factor=2)
        reveal_type(self.clients[0])
        connect(self.clients.reply, self.many)

    @reaction("clients[0].reply", "clients[1].reply")
    def either(self, one: Maybe[str], other: Maybe[str]) -> None:
        reveal_type(one.value)
        if one.is_present:
            reveal_type(one.value)
        if not one.is_present or not other.is_present:
            {unasked}
            return
        reveal_type(one.value + other.value)

    @reaction(many)
    def gather(self, many: Input[float]) -> None:
        reveal_type([port.value for port in many])
        reveal_type(current_tag())
"""


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """The output of the type checker, which reads the kernel once for all tests."""
    folder = tmp_path_factory.mktemp("checked")

    def check(wrong: str = "pass", unasked: str = "pass") -> str:
        source = folder / "program.py"
        source.write_text(PROGRAM.replace("{wrong}", wrong).replace("{unasked}", unasked))
        output, errors, _ = api.run(["--strict", "--cache-dir", str(folder / "cache"), str(source)])
        assert not errors
        return str(output)

    return check


def test_checker_knows_the_types_of_values(check: Callable[..., str]) -> None:
    output = check()
    revealed = [line.split('"')[1] for line in output.splitlines() if "Revealed type" in line]
    assert [name.replace("builtins.", "") for name in revealed] == [
        "int", "bool", "int", "program.Client", "str | None", "str", "str", "list[float]",
        "tuple[int, int, fallback=reactorlib.tag.Tag]",
    ]  # fmt: skip
    assert "error" not in output


@pytest.mark.parametrize("wrong", ["reply.set(1)", "later.schedule(value='text')", "request.value.upper()"])
def test_checker_refuses_values_of_another_type(check: Callable[..., str], wrong: str) -> None:
    assert "error" in check(wrong)


# In a program that is right but for one line.
MISTAKES = {
    "an input is set": "request.set(3)",
    "a value of another type is set": "reply.set(3)",
    "ports of two types are connected": "connect(Client(1).reply, Client(1).request)",
    "a reactor is connected": "connect(Client(1).reply, Client(1))",
    "an executor that does not exist": 'run(Client, factor=1, executor="proceses")',
    "a start method that does not exist": 'run(Client, factor=1, start_method="forks")',
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_checker_finds_a_mistake(check: Callable[..., str], mistake: str) -> None:
    assert check(MISTAKES[mistake]).count("error:") == 1


@pytest.mark.parametrize(
    "right",
    [
        "connect(Client(1).reply, Client(1).reply, after=0)",
        "connect([Client(1).request, Client(2).request], Main().many)",
        'run(Client, factor=1, executor="threads", timeout=5 * SEC)',
        "self.untyped.set(3)",
    ],
)
def test_checker_accepts_what_is_right(check: Callable[..., str], right: str) -> None:
    assert "error:" not in check(right)


def test_checker_refuses_to_read_what_may_be_absent(check: Callable[..., str]) -> None:
    assert 'Item "None" of "str | None" has no attribute "upper"' in check(unasked="one.value.upper()")
