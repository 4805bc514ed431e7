"""A script whose sessions other ranks serve, in many ways: `mpiexec -n 3 python -m reactorlib.mpi train.py WAY`."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import gymnasium

from reactorlib import Bank, Input, Output, Reactor, Session, connect, reaction, run, shutdown, startup
from reactorlib.errors import ReactionError, RunError, WorkerError

N = 4


@dataclass
class Question:
    """The value that is sent, of a class of the script."""

    number: int
    what: str = ""


class Square(Reactor):
    """Answers with a square."""

    inp, out = Input[Question](), Output[Question]()

    @reaction(startup)
    def begin(self) -> None:
        self.asked = 0

    @reaction(inp, effects=out)
    def act(self, inp: Any, out: Any) -> None:
        if inp.value.what == "raise" and self.bank_index == N - 1:
            raise ValueError("no square")
        if inp.value.what == "kill" and self.bank_index == N - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if inp.value.what == "hang":
            print("stuck", flush=True)
            for _ in range(600):  # naps: a signal just before one long sleep would wait for its end
                time.sleep(0.1)
        self.asked += 1
        out.set(Question(inp.value.number**2, str(self.asked)))

    @reaction(shutdown)
    def end(self) -> None:
        print("shut down", os.getpid(), flush=True)


class Squares(Reactor):
    """A bank of them."""

    inp, out = Input[Question](), Output[Question](width=N)

    def __init__(self, first: Question = Question(0)) -> None:  # noqa: B008
        self.first = first
        self.squares = Bank(Square, N)
        connect(self.inp, self.squares.inp)
        connect(self.squares.out, self.out)


def opened(executor: str = "mpi", **options: Any) -> Session:
    return Session(Squares, executor=executor, first=Question(1), **options)


def good() -> None:
    digests = []
    for executor in ("mpi", "inline", "mpi"):
        with opened(executor, trace=True) as session:
            for number in range(5):
                found = session.step(inp=Question(number))["out"]
                assert [one.number for one in found] == [number**2] * N
        result = session.close()
        assert result is not None
        digests.append(result.digest)
        print(executor, "done", flush=True)
    assert len(set(digests)) == 1


def fails_in_a_reaction() -> None:
    session = opened()
    try:
        session.step(inp=Question(1, "raise"))
    except ReactionError as error:
        print(error, "|", *getattr(error.__cause__, "__notes__", []), flush=True)
    with opened() as session:
        print("then", session.step(inp=Question(3))["out"][0].number, flush=True)


def is_refused() -> None:
    class Local(Reactor):
        pass

    attempts = (
        lambda: Session(Local, executor="mpi"), lambda: opened(workers=9), lambda: run(Squares, executor="mpi")
    )  # fmt: skip
    for attempt in attempts:
        try:
            attempt()
        except (RunError, WorkerError) as error:
            print(error, flush=True)
    with opened(workers=2) as session:
        session.step(inp=Question(3))


def steps_environments() -> None:
    from gymnasium.vector import AutoresetMode

    from reactorlib.gymnasium import ReactorVectorEnv
    from reactorlib.gymnasium.contract import find_faults, probes

    for probe in ("infos of every kind", "images", "Dict", "Text in a Dict"):
        make = [partial(probes.PROBES[probe], number) for number in range(5)]
        for caller_steps, mode in product((True, False), AutoresetMode):
            env = ReactorVectorEnv(make, executor="mpi", caller_steps=caller_steps, autoreset_mode=mode)
            assert len({*env.apply(where)}) == (3 if caller_steps else 2)
            assert find_faults(env, steps=20) == []
    env = ReactorVectorEnv([lambda: Failing()] * 3, executor="mpi")  # noqa: PLW0108
    try:
        env.step(env.action_space.sample())
    except ZeroDivisionError as error:
        print(error, *error.__notes__, flush=True)
    env.reset()
    env.close()
    print("all the same", flush=True)


def where(_env: Any) -> int:
    return os.getpid()


class Failing(gymnasium.Env[Any, Any]):
    """A class of the script."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return 0, {}

    def step(self, _action: Any) -> Any:
        raise ZeroDivisionError("by nought")


def forgets() -> None:
    opened().step(inp=Question(2))
    global kept
    kept = opened()
    kept.step(inp=Question(2))
    print("forgotten", flush=True)


def exits() -> None:
    opened().step(inp=Question(2))
    sys.exit(7)


def fails() -> None:
    opened().step(inp=Question(2))
    raise KeyError("not ours")


def fails_beside_a_hang() -> None:
    opened().begin(inp=Question(1, "hang"))
    time.sleep(1)  # by then the other ranks are in their reactions, as the test checks
    raise KeyError("not ours")


def loses_a_rank() -> None:
    opened().step(inp=Question(1, "kill"))


def hangs() -> None:
    opened().step(inp=Question(1, "hang"))


if __name__ == "__main__":
    vars()[sys.argv[1]]()
