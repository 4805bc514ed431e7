"""A program that its user drives: sets inputs of the main reactor, has a tag run, reads its outputs, does other things.

What reactions do and in which order, errors and the trace are as of `run`: only when a tag runs is up to the caller.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from time import monotonic
from types import TracebackType
from typing import Any, Final, NoReturn, Self, TypeVar
from weakref import WeakSet, finalize

from reactorlib.declaration.instance import BoundPort
from reactorlib.declaration.reactor import Reactor
from reactorlib.errors import RunError, did_you_mean
from reactorlib.execution import Execution, RunResult, fresh
from reactorlib.executors import ended_runs
from reactorlib.executors.choice import check_executor, check_names, make_executor
from reactorlib.executors.executor import Executor
from reactorlib.executors.failure import OutOfTime
from reactorlib.executors.library_threads import limited
from reactorlib.program import Program
from reactorlib.tag import Tag, time_fault
from reactorlib.transport.batch import Batch, batch
from reactorlib.worker.cells import Reader
from reactorlib.worker.context import current
from reactorlib.worker.event_queue import Events
from reactorlib.worker.main_worker import MainWorker, Pieces, schedule_of

T = TypeVar("T")


class Absent:
    """The type of ABSENT, which is False: an input that a step leaves absent, an output that nothing set at its tag.

    >>> from reactorlib import Input, Output, Reactor, connect
    >>> class Wire(Reactor):
    ...     inp, out = Input(), Output()
    ...     def __init__(self):
    ...         connect(self.inp, self.out)
    >>> with Session(Wire) as session:
    ...     step = session.stepper(("inp",), ("out",))
    ...     [step(None), step(ABSENT)]
    [None, ABSENT]
    """

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "ABSENT"

    def __reduce__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


class Session:
    """A program that is opened: its startup reactions have run, and each step runs one more tag.

    >>> from reactorlib import Input, Output, Reactor, reaction
    >>> class Sum(Reactor):
    ...     term, total = Input[int](), Output[int]()
    ...     def __init__(self):
    ...         self.value = 0
    ...     @reaction(term, effects=total)
    ...     def add(self, term, total):
    ...         self.value += term.value
    ...         total.set(self.value)
    >>> with Session(Sum) as session:
    ...     add = session.stepper(inputs=("term",), outputs=("total",))
    ...     [add(1), add(2), add(39)]
    [1, 3, 42]

    Inputs and outputs of the main reactor are what the caller sets and reads. A step is one tag, the next microstep or
    the one at `until`; what is due earlier runs first, and what is due at the same tag joins it. Logical time stands
    still between steps and does not wait for physical time. A session stays open when nothing is pending. Physical
    actions keep their tags, and run once a step reaches them.

    Options are those of `run`. But the caller's process keeps its own number of library threads, and its own handlers
    of signals: `library_threads` is for worker processes, and Ctrl-C or a SIGTERM that raises ends a session where it
    interrupts a step.

    A failing reaction raises ReactionError in the step and ends the session, after the shutdown reactions. Steps may
    come from different threads, one at a time, but not from a reaction. RunError: there is no next step, because the
    session has ended or one is under way, or what it was given makes no sense, which leaves the session open.
    """

    def __init__(
        self,
        program: type[Reactor] | Program,
        /,
        *,
        executor: str = "inline",
        workers: int | None = None,
        placement: Mapping[str, int] | None = None,
        costs: Mapping[str, float] | None = None,
        start_method: str | None = None,
        library_threads: int | None = None,
        trace: bool = False,
        **parameters: Any,
    ) -> None:
        if current.worker is not None:
            raise RunError("Session() inside a reaction: a program cannot drive another one in its own thread")
        check_names("Session", program, parameters, workers=workers, placement=placement, costs=costs,
                    executor=None if executor == "inline" else executor, start_method=start_method,
                    library_threads=library_threads, trace=trace or None)  # fmt: skip
        check_executor(executor, workers, library_threads)
        taken = fresh(program, parameters)
        if executor == "mpi":
            from reactorlib.mpi import runs  # only where it is used: it needs ranks

            make = runs.ask_to_serve(taken, runs.Workers(workers, placement, costs), trace)
        else:

            def make(worker: MainWorker) -> Executor:
                return make_executor(worker, executor, workers, placement, costs, start_method, library_threads)

        try:
            self._execution = Execution(lambda: MainWorker(taken, fast=True, keepalive=True, traced=trace), make)
        except BaseException:
            if executor == "mpi":
                runs.give_up()
            raise
        finalize(self, _kill, self._execution.living)  # also at exit
        self._result: RunResult | None = None
        self._ended = False  # as it should
        self._pending: Stepper | None = None  # whose step has begun
        self._callers: dict[int, str] = {}  # the call that a thread is in, at most one of which runs
        self._named: dict[tuple[str, ...], _Named] = {}
        self._events = {event.trigger.cell: event for event in self._execution.worker.events}
        with limited(library_threads):
            self._execution.guarded(self._execution.begin)
        _open.add(self._execution)
        self.stepper((), ())(until=0)

    # Steps

    def stepper(self, inputs: Sequence[str], outputs: Sequence[str]) -> Stepper:
        """Steps that set these inputs and read these outputs, by name: looked up once, for many steps."""
        return Stepper(self, inputs, outputs)

    def step(self, *, until: int | None = None, **inputs: Any) -> dict[str, Any]:
        """One tag with these inputs: the outputs that are present then, by name."""
        self.begin(until=until, **inputs)
        outputs: dict[str, Any] = self.finish()
        return outputs

    def begin(self, *, until: int | None = None, **inputs: Any) -> None:
        """The same in two halves: until `finish`, other workers run their parts of the tag, and the caller goes on."""
        names = tuple(inputs)
        stepper = self._named.get(names)
        if stepper is None:
            stepper = self._named[names] = _Named(self, names, list(self._ports(is_input=False)))
        stepper.begin(*inputs.values(), until=until)

    def finish(self, timeout: float | None = None) -> Any:
        """The outputs of the step that was begun. TimeoutError after `timeout` seconds: it goes on, finish it later."""
        stepper = self._pending
        if stepper is None:
            self._alone("finish", lambda: None)  # a session that is closed or busy says so
            raise RunError("finish(): no step has begun")
        return stepper.finish(timeout)

    def batch(self, shape: int | tuple[int, ...], dtype: Any = float) -> Batch:
        """An uninitialised array to pass as an input, which whoever reads it may fill, in part: see Batch."""
        return self._alone("batch", batch, self._execution.worker.allocate_shared, shape, dtype)

    # The end

    @property
    def closed(self) -> bool:
        """Whether no further step is possible."""
        return self._execution.over is not None

    @property
    def tag(self) -> Tag:
        """The tag of the last step; its time is in ns since the start of the session."""
        now = self._execution.worker.now
        return Tag(now.time, now.microstep)

    def close(self) -> RunResult | None:
        """Finish a step that has begun, run the shutdown reactions and what is due with them, and end.

        What the session leaves is what `run` returns, each time that it is asked for. None after an error ended it,
        and in a forked process: there nothing is closed.
        """
        if not self.closed and self._pending is not None:
            self.finish()
        if not self.closed:
            self._alone("close", self._execution.guarded, self._stop)
        if self._ended and self._result is None:
            self._leave()
        return self._result

    def kill(self) -> None:
        """End it at once, without shutdown reactions, whatever its other workers do."""
        if not self.closed:
            self._alone("kill", self._execution.kill)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self.close()

    def _alone(self, call: str, part: Callable[..., T], *arguments: Any) -> T:
        """Run `part` as the only call under way. Raises RunError where there is another one.

        An interrupt at any moment leaves the session free: a single operation enters, a single one leaves. A `with`
        does not do it, since Python 3.14 handles signals between entering and the block.
        """
        if current.worker is not None:
            raise RunError(f"{call}() inside a reaction: the step in which it runs must end first")
        thread = get_ident()
        if self._callers:
            self._refuse(call)
        try:
            self._callers[thread] = call
            if self._execution.over is not None:
                raise RunError(f"{call}(): the session is closed: {self._execution.over}")
            if len(self._callers) > 1:
                self._refuse(call)
            return part(*arguments)
        finally:
            self._callers.pop(thread, None)

    def _refuse(self, call: str) -> NoReturn:
        raise RunError(f"{call}(): another call of this session is under way")

    def _stop(self) -> None:
        execution, worker = self._execution, self._execution.worker
        worker.request_stop()
        worker.reach(execution.executor, worker.queue.time + 1)
        self._end()

    def _end(self) -> None:
        """The last tag has run."""
        self._execution.finish()
        self._ended = True

    def _reach(self, until: int) -> None:
        """Run what is due before the time of a step."""
        fault = time_fault(until, "until")
        if fault is not None:
            raise RunError(fault)
        execution = self._execution
        if until < execution.worker.queue.time:
            raise RunError(f"until={until} is before the last step, which was at {self.tag}")
        if execution.guarded(self._reached, int(until)):
            self._leave()
            raise RunError(f"step(): the program stopped at {self.tag}, before the tag of this step")

    def _reached(self, until: int) -> bool:
        ended = self._execution.worker.reach(self._execution.executor, until)
        if ended:
            self._end()
        return ended

    def _leave(self) -> None:
        """Take what it leaves."""
        self._pending = None
        ended_runs.collect_if_worthwhile()
        self._result = self._execution.result()

    def _ports(self, *, is_input: bool) -> dict[str, BoundPort]:
        ports = self._execution.worker.program.root.elements
        return {p.name: p for p in ports.values() if isinstance(p, BoundPort) and p.is_input == is_input}

    def _found(self, names: Sequence[str], *, is_input: bool) -> list[BoundPort]:
        """Ports of the main reactor by their names."""
        if isinstance(names, str):
            raise RunError(f"stepper(): give names in a list or tuple, such as ({names!r},)")
        if len(set(names)) != len(names):
            raise RunError(f"stepper(): a name twice in {', '.join(map(repr, names))}")
        known = self._ports(is_input=is_input)
        for name in names:
            if name not in known:
                what = f"{'input' if is_input else 'output'} {name!r}"
                raise RunError(f"{self._execution.worker.program.root.path} has no {what}{did_you_mean(name, known)}")
        return [known[name] for name in names]


class Stepper:
    """Steps of one session that set the same inputs and read the same outputs.

    A call sets the inputs in their order, runs a tag and gives the value of the output, or a tuple where it is not one.
    A multiport takes and gives a list with one value for each channel. ABSENT stands for what is not present.

    >>> from reactorlib import Input, Output, Reactor, connect
    >>> class Crossed(Reactor):
    ...     one, two, both = Input(), Input(), Output(width=2)
    ...     def __init__(self):
    ...         connect([self.two, self.one], self.both)
    >>> with Session(Crossed, executor="threads", workers=2) as session:
    ...     step = session.stepper(inputs=("one", "two"), outputs=("both",))
    ...     step.begin(1, 2)
    ...     step.finish(), step(3, 4)
    ([2, 1], [4, 3])
    """

    def __init__(self, session: Session, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self._session = session
        execution = session._execution
        worker = execution.worker
        self._inputs = [
            (port, [session._events[port.first + channel] for channel in range(port.width)])
            for port in session._found(inputs, is_input=True)
        ]
        # Where there is one input, and it is no multiport: what is not looked through at every step.
        single = len(self._inputs) == 1 and not self._inputs[0][0].multi
        self._only = self._inputs[0][1][0] if single else None
        copies = worker.program.outputs
        self._outputs: list[tuple[BoundPort, list[Reader]]] = [
            (port, [worker.cell(copies[port.first + channel]) for channel in range(port.width)])
            for port in session._found(outputs, is_input=False)
        ]
        self._cells = [cell for _, cells in self._outputs for cell in cells]
        self._pieces: Pieces
        self._wait: Callable[[], None] | None = None  # in which the step is

    def __call__(self, *values: Any, until: int | None = None) -> Any:
        """Run one tag with these values of the inputs: at the next microstep, or `until` ns since the start."""
        return self._session._alone("step", self._whole, self._present(values), until)

    def _whole(self, inputs: Events, until: int | None) -> Any:
        self._prepare(until)
        if self._session._execution.guarded(self._tag, inputs, until):
            self._session._leave()
        return self._read()

    def begin(self, *values: Any, until: int | None = None) -> None:
        """Let the other workers run their parts of the tag, after what is due before it."""
        self._session._alone("begin", self._begin, self._present(values), until)

    def _begin(self, inputs: Events, until: int | None) -> None:
        self._prepare(until)
        self._session._execution.guarded(self._first_half, inputs, until)

    def finish(self, timeout: float | None = None) -> Any:
        """Run the rest of the tag that was begun; what its outputs hold.

        TimeoutError, if the other workers take longer than `timeout` seconds: the step goes on, finish it later.
        """
        return self._session._alone("finish", self._finish, timeout)

    def _finish(self, timeout: float | None) -> Any:
        session = self._session
        if session._pending is not self:
            raise RunError("finish(): no step of this stepper has begun")
        ended = session._execution.guarded(self._second_half, None if timeout is None else monotonic() + timeout)
        if ended is None:
            raise TimeoutError(f"finish(): the step takes longer than {timeout} s")
        if ended:
            session._leave()
        return self._read()

    def _tag(self, inputs: Events, until: int | None) -> bool:
        """The tag of a step: whether it was the last one."""
        execution = self._session._execution
        queue, events = execution.worker.queue, execution.worker.join(inputs, until)
        ended = schedule_of(execution.executor, events)(queue.time, queue.soon)
        if ended:
            self._session._end()
        return ended

    def _first_half(self, inputs: Events, until: int | None) -> None:
        execution = self._session._execution
        queue, events = execution.worker.queue, execution.worker.join(inputs, until)
        self._pieces = execution.executor.pausing(events)(queue.time, queue.soon)
        self._session._pending = self
        self._wait = next(self._pieces)

    def _second_half(self, limit: float | None) -> bool | None:
        """Whether the tag was the last one; None where it takes too long."""
        ended = self._resume(limit)
        if ended is not None:
            self._session._pending = None
        if ended:
            self._session._end()
        return ended

    def _prepare(self, until: int | None) -> None:
        """What comes before the tag of a step: what is due earlier runs, the outputs hold nothing."""
        session = self._session
        if session._pending is not None:
            raise RunError("a step has begun: finish() it first")
        if until is not None:
            session._reach(until)
        for cell in self._cells:
            cell.value = ABSENT

    def _resume(self, limit: float | None) -> bool | None:
        """To the end of the tag: whether it was the last one. None: a wait, which can be repeated, took too long.

        What is between waits is not broken off: a message that is being sent could not be sent again.
        """
        pieces, executor = self._pieces, self._session._execution.executor
        try:
            while True:
                if self._wait is not None:
                    executor.limit = limit
                    self._wait()
                    self._wait = executor.limit = None
                self._wait = next(pieces)
        except StopIteration as end:
            return bool(end.value)
        except RuntimeError as error:
            if isinstance(error.__cause__, StopIteration) and not _inner(error):
                raise error.__cause__ from None  # which a reaction raised: no generator lets it pass
            raise
        except OutOfTime:
            return None
        finally:
            executor.limit = None

    def _present(self, values: Sequence[Any]) -> Events:
        """The events of the inputs that are not ABSENT."""
        if self._only is not None and len(values) == 1:
            return {} if values[0] is ABSENT else {self._only: values[0]}
        if len(values) != len(self._inputs):
            names = ", ".join(port.name for port, _ in self._inputs) or "none"
            raise RunError(f"step() takes a value for each of its inputs ({names}), got {len(values)}")
        events: Events = {}
        for (port, channels), value in zip(self._inputs, values, strict=True):
            if value is ABSENT:
                continue
            if not port.multi:
                events[channels[0]] = value
                continue
            if not isinstance(value, list | tuple) or len(value) != port.width:
                raise RunError(f"{port.path} takes a list of {port.width} values, one for each channel, got {value!r}")
            events.update((channel, one) for channel, one in zip(channels, value, strict=True) if one is not ABSENT)
        return events

    def _read(self) -> Any:
        if len(self._outputs) == 1:
            port, cells = self._outputs[0]
            return [cell.value for cell in cells] if port.multi else cells[0].value
        return tuple([cell.value for cell in cells] if port.multi else cells[0].value for port, cells in self._outputs)


class _Named(Stepper):
    """Gives all outputs that are present, by name."""

    def _read(self) -> dict[str, Any]:
        return {
            port.name: [cell.value for cell in cells] if port.multi else cells[0].value
            for port, cells in self._outputs
            if any(cell.value is not ABSENT for cell in cells)
        }


def _inner(error: BaseException) -> bool:
    """Whether an error was raised in what the function called that has caught it."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is not None


def _kill(living: list[Execution]) -> None:
    for execution in [*living]:
        execution.kill()


_open: WeakSet[Execution] = WeakSet()


def _disown() -> None:
    """In a forked process: the copy of a session has no workers and may not touch those of the original."""
    for execution in _open:
        execution.over = f"it is a copy of that of process {execution.worker.process}, which this one was forked from"


os.register_at_fork(after_in_child=_disown)
