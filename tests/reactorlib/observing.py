"""How the conformance tests look at a run: its trace in a form that is short to write down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reactorlib import MSEC, RunResult

Execute = Callable[..., RunResult]
Step = tuple[Any, ...]


def steps(result: RunResult) -> list[Step]:
    """The whole trace: (time, microstep, reaction, *writes), each write a (port, value)."""
    assert result.trace is not None
    return [(*record.tag, record.reaction, *record.writes) for record in result.trace]


def reactions(result: RunResult) -> list[Step]:
    """The trace without its writes: (time, microstep, reaction)."""
    return [step[:3] for step in steps(result)]


def written(result: RunResult, port: str) -> list[Step]:
    """The writes of one port or of one channel: (time, microstep, value)."""
    assert result.trace is not None
    return [(*record.tag, value) for record in result.trace for name, value in record.writes if name == port]


def values(result: RunResult, port: str) -> list[Any]:
    """The values written to one port."""
    return [step[-1] for step in written(result, port)]


def arrived(result: RunResult, port: str) -> list[tuple[float, Any]]:
    """The writes of one port, all of them at microstep 0: (time in ms, value)."""
    assert {microstep for _, microstep, _ in written(result, port)} <= {0}
    return [(time / MSEC, value) for time, _, value in written(result, port)]


def story(result: RunResult, *names: str) -> str:
    """Which reactions ran when, such as "4 in_one, 10+1 in_two": the time in ms, the microstep, the name."""
    told = [(time, microstep, path.rpartition(".")[2]) for time, microstep, path in reactions(result)]
    return ", ".join(
        f"{time / MSEC:g}{f'+{microstep}' if microstep else ''} {name}"
        for time, microstep, name in told
        if name in (names or (name,))
    )
