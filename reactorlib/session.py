"""A program that its user drives, a tag at a time. Reactions, their order, errors and the trace are as of `run`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, Self, TypeVar

from reactorlib.declaration.instance import BoundPort
from reactorlib.declaration.reactor import Reactor
from reactorlib.errors import RunError, did_you_mean
from reactorlib.execution import Execution, RunResult, fresh, make_executor
from reactorlib.executors import ended_runs
from reactorlib.executors.executor import OutOfTime
from reactorlib.executors.last_call import Mortal
from reactorlib.executors.library_threads import limited
from reactorlib.program import Program
from reactorlib.tag import Tag, time_fault
from reactorlib.transport.batch import Batch, batch
from reactorlib.worker.cells import ABSENT, Reader
from reactorlib.worker.context import current, is_inside
from reactorlib.worker.coordinator import Pieces
from reactorlib.worker.event_queue import Events
from reactorlib.worker.options import ExecutorName, Options, StartMethod

T = TypeVar("T")


class Session(Mortal):
    """A program that is opened: its startup reactions have run, and each step runs one more tag.

    >>> from reactorlib import Input, Output, Reactor, reaction
    >>> class Double(Reactor):
    ...     inp, out = Input[int](), Output[int]()
    ...     @reaction(inp, effects=out)
    ...     def double(self, inp, out):
    ...         out.set(2 * inp.value)
    >>> with Session(Double) as session:
    ...     step = session.stepper(inputs=("inp",), outputs=("out",))
    ...     [step(1), step(21)]
    [2, 42]

    A step is one tag: the next microstep, or the one at `until`. Earlier events run first, and events of the same tag
    join it. Logical time stands still between steps and does not wait for physical time.

    Options are those of `run` that it has; `library_threads` is for the other processes and ranks. An error or
    interrupt in a step ends the session, after the shutdown reactions. A RunError for arguments that make no sense
    leaves it open. Steps may come from different threads, one at a time. They may come from a reaction of another
    program, but not from one of their own.
    """

    def __init__(
        self,
        program: type[Reactor] | Program,
        /,
        *,
        executor: ExecutorName = "inline",
        workers: int | None = None,
        placement: Mapping[str, int] | None = None,
        start_method: StartMethod | None = None,
        library_threads: int | None = None,
        trace: bool = False,
        **parameters: Any,
    ) -> None:
        options = Options(executor=executor, workers=workers, placement=placement, start_method=start_method,
                          library_threads=library_threads, trace=trace)  # fmt: skip
        options.check("Session", program, parameters)
        options = replace(options, fast=True, keepalive=True)
        make = make_executor
        if executor == "mpi":
            from reactorlib.mpi.runs import lead_session as make  # only where it is used: it needs ranks
        self._execution = Execution(fresh(program, parameters), options, make)
        self._execution.released = self.at_death(self._execution.kill)
        self._result: RunResult | None = None
        self._pending: Stepper | None = None  # whose step has begun
        self._calls: set[object] = set()  # under way, at most one of which runs
        self._named: dict[tuple[str, ...], Stepper] = {}
        self._events = {event.trigger.cell: event for event in self._execution.worker.events}
        with limited(library_threads, here=False):
            self._execution.guarded(self._execution.begin)
        self.stepper((), ())(until=0)

    def stepper(self, inputs: Sequence[str], outputs: Sequence[str]) -> Stepper:
        """Steps that set these inputs and read these outputs, by name: looked up once, for many steps."""
        return Stepper(self, inputs, outputs)

    def step(self, /, *, until: int | None = None, **inputs: Any) -> dict[str, Any]:
        """One tag with these inputs: the outputs that are present then, by name. A stepper sets an input `until`."""
        return self._stepper_of(inputs)(*inputs.values(), until=until)  # type: ignore[no-any-return]

    def begin(self, /, *, until: int | None = None, **inputs: Any) -> None:
        """Begin such a step: until `finish`, other workers run their parts of the tag beside the caller."""
        self._stepper_of(inputs).begin(*inputs.values(), until=until)

    def finish(self, timeout: float | None = None) -> Any:
        """Return the outputs of the step that was begun. After a TimeoutError the step continues, finish it later."""
        return (self._pending or self.stepper((), ())).finish(timeout)

    def batch(self, shape: int | tuple[int, ...], dtype: Any = float) -> Batch:
        """A Batch to pass as an input, whose array its readers fill. An int `shape` n is (n,), the dtype float64."""
        return self._alone("batch", batch, self._execution.worker.buffers.allocate_shared, shape, dtype)

    @property
    def closed(self) -> bool:
        """Whether no further step is possible."""
        return self._execution.over is not None

    @property
    def tag(self) -> Tag:
        """The tag of the last step; its time is in ns since the start of the session."""
        return self._execution.tag

    def close(self) -> RunResult | None:
        """Finish a step that has begun, run the shutdown reactions with the events due at their tag, and end.

        Returns the result as `run` does. None after an error, and in a forked process, which closes nothing.
        """
        if not self.closed and self._pending is not None:
            self.finish()
        if not self.closed:
            self._alone("close", self._execution.guarded, self._stop)
        if self._execution.ended and self._result is None:
            ended_runs.collect_if_worthwhile()
            self._result = self._execution.result()
        return self._result

    def kill(self) -> None:
        """End it at once, without shutdown reactions, whatever its workers do. RunError during another call."""
        if not self.closed:
            self._alone("kill", self._execution.kill)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> None:
        if self._pending is not None and error is not None and not isinstance(error, Exception) and not self.closed:
            self._alone("close", self._execution.guarded, _broken_off, error)  # it does not wait for a step either
        self.close()

    def _alone(self, call: str, part: Callable[..., T], *arguments: Any) -> T:
        """Run `part` as the only call under way. Raises RunError where there is another one.

        An interrupt at any moment leaves the session free. After a `with` it might not: Python 3.14 handles signals
        between entering and the block.
        """
        if current.worker is not None and is_inside(self._execution.coordinator.inbox):
            raise RunError(f"{call}() inside a reaction: the step in which it runs must end first")
        mine, others = object(), bool(self._calls)
        try:
            if not others:
                self._calls.add(mine)
            if others or len(self._calls) > 1:
                raise RunError(f"{call}(): another call of this session is under way")
            if self._execution.over is not None:
                raise RunError(f"{call}(): the session is closed: {self._execution.over}")
            return part(*arguments)
        finally:
            self._calls.discard(mine)

    def _stepper_of(self, inputs: Collection[str]) -> Stepper:
        """The stepper that sets these inputs and returns all outputs by name."""
        names = tuple(inputs)
        if names not in self._named:
            self._named[names] = Stepper(self, names, None)
        return self._named[names]

    def _stop(self) -> bool:
        coordinator = self._execution.coordinator
        coordinator.stop()
        return coordinator.reach(self._execution.executor, coordinator.queue.time + 1)

    def _ports(self, names: Sequence[str] | None, *, is_input: bool) -> list[BoundPort]:
        """Ports of the main reactor by their names, or all of them."""
        root = self._execution.worker.program.root
        if isinstance(names, str):
            raise RunError(f"stepper() takes two sequences of names, such as ({names!r},), got {names!r}")
        known = {p.name: p for p in root.elements.values() if isinstance(p, BoundPort) and p.is_input == is_input}
        for name in names or ():
            if name not in known:
                what = "input" if is_input else "output"
                raise RunError(f"{root.path} has no {what} {name!r}{did_you_mean(name, known)}")
        return [known[name] for name in (known if names is None else names)]


def _broken_off(error: BaseException) -> bool:
    raise error


class Stepper:
    """Steps of one session that set the same inputs and read the same outputs.

    A call sets the inputs in their order, runs a tag and returns the value of the output, or a tuple of several.
    A multiport has a list with one value for each channel. ABSENT stands for an absent value.

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

    def __init__(self, session: Session, inputs: Sequence[str], outputs: Sequence[str] | None) -> None:
        self._session = session
        self._execution = session._execution
        worker = self._execution.worker
        self._inputs = [
            (port, [session._events[port.first + channel] for channel in range(port.width)])
            for port in session._ports(inputs, is_input=True)
        ]
        single = len(self._inputs) == 1 and not self._inputs[0][0].multi
        self._only = self._inputs[0][1][0] if single else None  # as mostly: nothing to look through
        self._by_name = outputs is None  # returns all outputs that are present
        self._outputs: list[tuple[BoundPort, list[Reader]]] = [
            (port, [worker.cell(worker.program.outputs[port.first + channel]) for channel in range(port.width)])
            for port in session._ports(outputs, is_input=False)
        ]
        self._cells = [cell for _, cells in self._outputs for cell in cells]
        self._pieces: Pieces
        self._wait: Callable[[], None] | None = None  # in which the step is

    def __call__(self, *values: Any, until: int | None = None) -> Any:
        """Run one tag with these values of the inputs: at the next microstep, or at `until`, such as `5 * MSEC`."""
        return self._session._alone("step", self._whole, self._events(values), until)

    def begin(self, *values: Any, until: int | None = None) -> None:
        """Run earlier events, then let the other workers run their parts of the tag."""
        self._session._alone("begin", self._begin, self._events(values), until)

    def finish(self, timeout: float | None = None) -> Any:
        """Run the rest of the tag and return its outputs. TimeoutError if others take longer than `timeout` seconds."""
        return self._session._alone("finish", self._finish, timeout)

    def _whole(self, inputs: Events, until: int | None) -> Any:
        time = self._prepare(until)
        self._execution.guarded(self._execution.coordinator.step, self._execution.executor, inputs, time)
        return self._values()

    def _begin(self, inputs: Events, until: int | None) -> None:
        time = self._prepare(until)
        self._execution.guarded(self._start, inputs, time)

    def _finish(self, timeout: float | None) -> Any:
        if self._session._pending is not self:
            of = " of this stepper" if self._session._pending else ""
            raise RunError(f"finish(): no step{of} has begun")
        limit = None if timeout is None else monotonic() + timeout
        if self._execution.guarded(self._resume, limit) is None:
            raise TimeoutError(f"finish(): the step takes longer than {timeout} s")
        return self._values()

    def _prepare(self, until: int | None) -> int | None:
        """Before the tag of a step: run earlier events, empty the outputs. Returns its time in plain ns."""
        execution = self._execution
        if self._session._pending is not None:
            raise RunError("a step has begun: finish() it first")
        if until is not None:
            if fault := time_fault(until, "until"):
                raise RunError(fault)
            if until < execution.tag.time:
                raise RunError(f"until={until} is before the last step, which was at {execution.tag}")
            until = int(until)
            if execution.guarded(execution.coordinator.reach, execution.executor, until):
                raise RunError(f"step(): the program stopped at {execution.tag}, before the tag of this step")
        for cell in self._cells:
            cell.value = ABSENT
        return until

    def _start(self, inputs: Events, until: int | None) -> None:
        """Run the tag until the other workers have begun."""
        coordinator = self._execution.coordinator
        events, queue = coordinator.join(inputs, until), coordinator.queue
        self._pieces = self._execution.executor.pausing(events)(queue.time, queue.soon)
        self._session._pending = self
        self._wait = next(self._pieces)

    def _resume(self, limit: float | None) -> bool | None:
        """Run to the end of the tag: whether it was the last one. None: a wait took too long, and can be repeated."""
        executor = self._execution.executor
        try:
            while True:
                if self._wait is not None:
                    executor.limit = limit
                    self._wait()
                    self._wait = executor.limit = None
                self._wait = next(self._pieces)
        except StopIteration as end:
            self._session._pending = None
            return bool(end.value)
        except RuntimeError as error:
            inner = error.__traceback__ and error.__traceback__.tb_next
            if isinstance(error.__cause__, StopIteration) and inner is None:  # of a reaction: no generator lets it pass
                raise error.__cause__ from None
            raise
        except OutOfTime:
            return None
        finally:
            executor.limit = None

    def _events(self, values: Sequence[Any]) -> Events:
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
            if port.multi and (not isinstance(value, list | tuple) or len(value) != port.width):
                raise RunError(f"{port.path} takes a list of {port.width} values, one for each channel, got {value!r}")
            given = value if port.multi else (value,)
            events.update((channel, one) for channel, one in zip(channels, given, strict=True) if one is not ABSENT)
        return events

    def _values(self) -> Any:
        values = [[cell.value for cell in cells] if port.multi else cells[0].value for port, cells in self._outputs]
        if self._by_name:
            named = zip(self._outputs, values, strict=True)
            return {port.name: value for (port, cells), value in named if any(c.value is not ABSENT for c in cells)}
        return values[0] if len(values) == 1 else tuple(values)
