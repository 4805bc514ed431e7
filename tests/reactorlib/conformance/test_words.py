"""A wrong argument is one line that names what would be right."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    SEC,
    Bank,
    Input,
    LogicalAction,
    Output,
    Reactor,
    Session,
    connect,
    elaborate,
    reaction,
    run,
    startup,
)
from reactorlib.errors import ElaborationError, ReactionError, RunError
from tests.reactorlib.conformance.faulty import declaring, faults_of
from tests.reactorlib.scripts import ROOT


class Main(Reactor):
    inp, out = Input[int](), Output[int]()

    def __init__(self, number: int = 0): ...

    @reaction(inp, effects=out)
    def answer(self, inp, out):
        out.set(inp.value)


@pytest.mark.parametrize("program", [Main, elaborate(Main)], ids=["class", "Program"])
@pytest.mark.parametrize("start", [run, Session])
@pytest.mark.parametrize(
    ("option", "meant"), [("worker", "workers"), ("exec", "executor"), ("placment", "placement"), ("traced", "trace")]
)
def test_a_misspelt_option_names_the_one_that_it_may_mean(start: Any, program: Any, option: str, meant: str) -> None:
    with pytest.raises(RunError) as refused:
        start(program, **{option: 2})
    told = f"{start.__name__}() has no option {option}, and Main no such parameter: did you mean {meant}?"
    assert str(refused.value) == told


def test_a_misspelt_timeout_is_no_parameter() -> None:
    with pytest.raises(RunError, match=r"run\(\) has no option timout, .*: did you mean timeout\?"):
        run(Main, timout=5 * MSEC)


def test_an_option_of_run_is_none_of_a_session() -> None:
    with pytest.raises(RunError, match=r"Session\(\) has no option timeout: it is one of run\(\)"):
        Session(Main, timeout=5 * MSEC)


@pytest.mark.parametrize("name", ["numbers", "colour"])
def test_a_parameter_that_means_no_option_is_one_of_the_constructor(name: str) -> None:
    with pytest.raises(ElaborationError, match=f"Main.*number: .*unexpected keyword argument '{name}'"):
        run(Main, **{name: 3})


@pytest.mark.parametrize("executor", ["inline", "threads"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"placement": "Main"}, "placement must be a mapping from paths of reactors to workers, such as "),
        ({"placement": ["Main"]}, "placement must be a mapping"),
        ({"fast": "no"}, "fast must be True or False, got 'no'"),
        ({"keepalive": 2}, "keepalive must be True or False, got 2"),
        ({"trace": "yes"}, "trace must be True or False"),
        ({"start_method": "threads"}, "unknown start method 'threads': there is fork, spawn, forkserver"),
        ({"executor": "process"}, "unknown executor 'process': did you mean 'processes'?"),
    ],
    ids=str,
)
def test_a_value_that_an_option_cannot_have_is_refused_on_every_executor(
    executor: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(RunError) as refused:
        run(Main, **{"executor": executor, **options})
    assert str(refused.value).startswith(words)


def test_workers_that_inline_does_not_use_are_told() -> None:
    assert run(Main, executor="inline", workers=8).reason == (
        "inline has one worker, and workers=8 is for the other executors"
    )
    assert run(Main, executor="inline", workers=1).reason == ""


@pytest.mark.parametrize("factor", [float("inf"), float("-inf"), float("nan")])
def test_a_time_without_an_end_is_refused_in_words(factor: float) -> None:
    with pytest.raises(OverflowError, match=r"a time is finite.*: for no limit, leave the time out"):
        SEC * factor


def test_an_instance_in_the_place_of_a_class() -> None:
    for start in (run, elaborate):
        with pytest.raises(ElaborationError, match="<reactor Main>: give its class, and its parameters by name"):
            start(Main())  # type: ignore[arg-type]  # wrong on purpose


def unheld(main: Any) -> None:
    Main()


def unheld_bank(main: Any) -> None:
    Bank(Main, 1)


def in_a_dict(main: Any) -> None:
    main.members = {"a": Main()}


@pytest.mark.parametrize("make", [unheld, unheld_bank, in_a_dict])
def test_a_reactor_that_no_attribute_holds_has_its_line(make: Callable[[Any], None]) -> None:
    told = faults_of(declaring(__init__=make))
    assert "makes a Main that no attribute holds: assign it to self.<name>, or to a list there" in told
    assert ("instead of the dict members" in told) is (make is in_a_dict)
    assert told.endswith(f" ({__file__}:{make.__code__.co_firstlineno + 1})")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda main: main.child.outt, "has no attribute 'outt': did you mean 'out'? There is inp, out"),
        (lambda main: connect(main.child.out, main.members), "got <bank of 2 Main>: name a port of it, inp or out"),
        (lambda main: connect(main.child, main.child.inp), "got <reactor Main.child>: name a port of it, inp or out"),
    ],
)
def test_a_port_that_is_not_named_is_offered(make: Callable[[Any], Any], words: str) -> None:
    def construct(main: Any) -> None:
        main.child, main.members = Main(), Bank(Main, 2)
        make(main)

    assert words.replace("Main.child", "Main") in faults_of(declaring(__init__=construct))


@pytest.mark.parametrize("name", ["startup", "shutdown", "reset"])
def test_a_signal_in_quotes(name: str) -> None:
    class Quoted(Reactor):
        @reaction(name)
        def go(self): ...

    assert f"write {name} without quotes" in faults_of(Quoted)


class Assigns(Reactor):
    out, later = Output[int](), LogicalAction[int]()

    def __init__(self, name: str):
        self.name = name

    @reaction(startup, effects=[out, later])
    def begin(self, out, later):
        {"out": out, "later": later}[self.name].value = 3


@pytest.mark.parametrize(("name", "call"), [("out", r"set\(3\)"), ("later", r"schedule\(value=3\)")])
def test_a_value_that_is_assigned_names_the_call(name: str, call: str) -> None:
    with pytest.raises(ReactionError, match=rf"Assigns\.{name}\.value is only read: write {call}"):
        run(Assigns, name=name)


def test_names_of_a_stepper_are_no_text() -> None:
    with Session(Main) as session, pytest.raises(RunError, match=r"such as \('inp',\), got 'inp'"):
        session.stepper("inp", "out")


def test_a_program_is_no_tuple_and_short() -> None:
    program = elaborate(declaring(__init__=lambda main: setattr(main, "members", Bank(Main, 16))))
    assert repr(program) == "<program Main: 17 reactors, 16 reactions>"
    assert not hasattr(program, "__len__")
    assert not hasattr(program, "__iter__")
    with pytest.raises(AttributeError):
        program.reactions = ()  # type: ignore[misc]  # wrong on purpose


UNSENDABLE = """
import traceback
from reactorlib import *
class Unsendable:
    def __reduce__(self): raise ValueError("no pickle")
class Member(Reactor):
    inp, out = Input(), Output()
    @reaction(inp, effects=out)
    def go(self, inp, out): out.set(Unsendable())
class Main(Reactor):
    def __init__(self): self.members = Bank(Member, 2)
    @reaction(startup, effects="members.inp")
    def begin(self, inputs):
        for one in inputs: one.set(1)
    @reaction("members.out")
    def hear(self, outputs): pass
if __name__ == "__main__": run(Main, executor="processes", workers=2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes need Linux")
def test_the_error_of_another_worker_is_the_only_one_that_is_shown() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNSENDABLE], capture_output=True, text=True, timeout=60, cwd=ROOT, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1
    assert "During handling" not in done.stderr
    assert "cannot travel to another worker: ValueError: no pickle" in done.stderr.splitlines()[-1]
