"""reactorlib: the reactor model in plain Python, compiled to straight-line schedules, with one deterministic result."""

from reactorlib.declaration.building import where
from reactorlib.declaration.class_body import reaction
from reactorlib.declaration.connect import connect, interleaved
from reactorlib.declaration.elements import (
    Input,
    LogicalAction,
    Maybe,
    Mode,
    Output,
    PhysicalAction,
    State,
    Timer,
    history,
    reset,
    shutdown,
    startup,
)  # fmt: skip
from reactorlib.declaration.reactor import Bank, Reactor, per_member
from reactorlib.errors import (
    EffectError,
    ElaborationError,
    ReactionError,
    ReactorError,
    RunError,
    ThreadError,
    WorkerError,
)  # fmt: skip
from reactorlib.execution import RunResult
from reactorlib.program import Program, elaborate
from reactorlib.runtime import run
from reactorlib.session import Session, Stepper
from reactorlib.tag import HOUR, MINUTE, MSEC, NSEC, SEC, USEC, Tag, Time
from reactorlib.transport.batch import Batch
from reactorlib.worker.cells import ABSENT
from reactorlib.worker.context import (
    check_deadline,
    current_tag,
    logical_elapsed,
    logical_time,
    physical_elapsed,
    physical_time,
    request_stop,
    run_handle,
    start_time,
    update_deadline,
)  # fmt: skip
from reactorlib.worker.inbox import RunHandle
from reactorlib.worker.options import ExecutorName
from reactorlib.worker.recorder import Span, TraceRecord

__version__ = "1.0.0"

__all__ = [
    "ABSENT", "HOUR", "MINUTE", "MSEC", "NSEC", "SEC", "USEC", "Bank", "Batch", "EffectError", "ElaborationError",
    "ExecutorName", "Input", "LogicalAction", "Maybe", "Mode", "Output", "PhysicalAction", "Program", "ReactionError",
    "Reactor", "ReactorError", "RunError", "RunHandle", "RunResult", "Session", "Span", "State", "Stepper", "Tag",
    "ThreadError", "Time", "Timer", "TraceRecord", "WorkerError", "check_deadline", "connect", "current_tag",
    "elaborate", "history", "interleaved", "logical_elapsed", "logical_time", "per_member", "physical_elapsed",
    "physical_time", "reaction", "request_stop", "reset", "run", "run_handle", "shutdown", "start_time", "startup",
    "update_deadline", "where",
]  # fmt: skip
