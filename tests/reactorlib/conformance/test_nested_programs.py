"""A reaction that runs another program, or drives one, on every executor."""

from typing import Any

import pytest

from reactorlib import Bank, Input, Output, Reactor, Session, connect, current_tag, reaction, run, startup
from reactorlib.errors import ReactionError, RunError
from tests.reactorlib.conformance.sessions import Farm, Opened, acting

WAYS: list[dict[str, Any]] = [{}, {"executor": "threads", "workers": 2}, {"executor": "processes", "workers": 2}]


class Keeper(Reactor):
    """Drives a program of its own, which it opens in a reaction."""

    inp, out = Input[int](), Output[Any]()

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.inner: Session | None = None

    @reaction(inp, effects=out)
    def ask(self, inp: Any, out: Any) -> None:
        self.inner = self.inner or Session(Farm, **self.options)
        before = current_tag()
        sums = self.inner.step(every=inp.value)["sums"]
        assert current_tag() == before  # its own
        out.set((sums, before.microstep))
        if inp.value < 0:
            self.inner.close()
            raise ValueError("as asked")


class Keepers(Reactor):
    inp, outs = Input[int](), Output[Any](width=2)

    def __init__(self, options: dict[str, Any]) -> None:
        self.keepers = Bank(Keeper, 2, options)
        connect(self.inp, self.keepers.inp)
        connect(self.keepers.out, self.outs)


@pytest.mark.parametrize("inner", WAYS, ids=["inline", "threads", "processes"])
def test_a_reaction_drives_a_program_of_its_own(
    opened: Opened, inner: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two reactions start processes at a time. Next to threads of the outer program the default is no fork.
    monkeypatch.delenv("REACTORLIB_START_METHOD")
    with opened(Keepers, options=inner) as session:
        assert session.step(inp=3) == {"outs": [([6, 7], 1)] * 2}
        assert session.step(inp=5) == {"outs": [([10, 11], 2)] * 2}


def test_an_error_of_the_inner_program_is_one_of_the_reaction(opened: Opened) -> None:
    session = opened(Keepers, options={})
    with pytest.raises(ReactionError, match="Keepers") as raised:
        session.step(inp="fail")
    assert isinstance(raised.value.__cause__, ReactionError)
    assert "doublers" in str(raised.value.__cause__)


class Runs(Reactor):
    """Runs another program, and goes on."""

    out = Output[Any]()

    @reaction(startup, effects=out)
    def begin(self, out: Any) -> None:
        result = run(Quick, fast=True)
        out.set((result.tag.time, current_tag().microstep))


class Quick(Reactor):
    @reaction(startup)
    def begin(self) -> None: ...


def test_a_reaction_runs_a_program(execute: Any) -> None:
    assert [record.reaction for record in execute(Runs).trace] == ["Runs.begin"]


def test_a_program_is_not_driven_from_within_however_deep() -> None:
    refused: list[str] = []

    def act() -> None:
        for call in (outer.step, outer.begin, outer.finish, outer.close, outer.kill):
            with pytest.raises(RunError, match="inside a reaction"):
                call()
            refused.append(call.__name__)

    with Session(acting(act)) as inner, Session(acting(lambda: inner.step(inp=1))) as outer:
        outer.step(inp=1)
        assert len(refused) == 5
        inner.close()
        assert not outer.closed


def test_a_reaction_may_end_another_program() -> None:
    other = Session(Farm)
    with Session(acting(other.kill)) as session:
        session.step(inp=1)
    assert other.closed


def test_a_reaction_runs_nothing_that_all_ranks_must_run() -> None:
    def act() -> None:
        with pytest.raises(RunError, match="inside a reaction"):
            run(Quick, executor="mpi")

    with Session(acting(act)) as session:
        session.step(inp=1)
