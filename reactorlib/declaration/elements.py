"""The elements of a class body: ports, timers, actions, modes, state. Nothing runs here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, Self, TypeVar

from reactorlib.declaration.building import building, here

T = TypeVar("T")

Policy = Literal["defer", "drop", "replace", "update"]

# A number, the name of a constructor parameter, or a function whose parameters have names of constructor parameters.
Expression = int | str | Callable[..., int]


class Element:
    """Anything a reactor class declares by name: `name` is the attribute it was assigned to, `where` the line."""

    kind = "element"

    def __init__(self) -> None:
        self.name = ""
        self.mode: Mode | None = building.mode
        self.where = here()

    def __set_name__(self, owner: type, name: str) -> None:
        if not self.name:
            self.name = name

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}>" if self.name else f"<{self.kind}>"

    def _misused(self) -> TypeError:
        """The error of a call on the declaration. Such calls are for the argument of a reaction."""
        return TypeError(f"{self!r} is a declaration: use the {self.kind} that the reaction is given")


class Port(Element, Generic[T]):
    """The base of Input and Output.

    As the argument of a reaction, a port has `value` (the last one set, None before the first) and `is_present` (at
    this tag). An effect also has `set`. A multiport has an index, an iterator and `len()`; its `value` is a list.
    """

    value: T
    is_present: bool

    def __init__(self, width: Expression | None = None) -> None:
        super().__init__()
        self.width = width

    if TYPE_CHECKING:  # of a multiport, as the argument of a reaction

        def __getitem__(self, channel: int) -> Self: ...
        def __iter__(self) -> Iterator[Self]: ...
        def __len__(self) -> int: ...


class _WhenPresent(Protocol[T]):
    value: T
    is_present: Literal[True]


class _WhenAbsent(Protocol[T]):
    value: T | None
    is_present: Literal[False]


Maybe = _WhenPresent[T] | _WhenAbsent[T]
"""The type of an argument that may be absent when the reaction runs: its value may be None where it is not present."""


class Input(Port[T]):
    """An input port carrying values of type T; `width=` makes it a multiport.

    `width` is an integer, the name of a constructor parameter or a function of constructor parameters. With
    `mutable=True` the reader gets its own deep copy.

    One of several triggers, and a port that a reaction only `uses`, may be absent. With the annotation `Maybe[T]`
    instead of `Input[T]`, a type checker asks for a check of `is_present`. Where a reaction sets the input of a
    contained reactor, its argument is annotated as `Output[T]`, which has `set`.

    >>> from reactorlib import Maybe, Reactor, reaction
    >>> class Sum(Reactor):
    ...     one, other = Input[int](), Input[int]()
    ...     @reaction(one, other)
    ...     def add(self, one: Maybe[int], other: Maybe[int]) -> None:
    ...         if one.is_present and other.is_present:
    ...             print(one.value + other.value)
    """

    kind = "input"

    def __init__(self, width: Expression | None = None, mutable: bool = False) -> None:
        super().__init__(width)
        self.mutable = mutable

    if not TYPE_CHECKING:  # a reaction that may set an input has it as an Output

        def set(self, value: T) -> None:
            raise self._misused()


class Output(Port[T]):
    """An output port carrying values of type T; `width=` makes it a multiport.

    After `set`, neither sender nor readers may change the value: it is shared. A `mutable` input has its own copy. A
    reaction may not keep its arguments, nor assign to them.

    On `processes`, arrays are read-only views of shared memory, in C's or Fortran's order. A torch parameter arrives as
    a leaf of its own, without `.grad`. A tensor computed from one is refused: set `tensor.detach()`.

    >>> from reactorlib import Reactor, Output, reaction, startup
    >>> class Source(Reactor):
    ...     out = Output[str]()
    ...     @reaction(startup, effects=out)
    ...     def begin(self, out):
    ...         out.set("hello")
    """

    kind = "output"

    def set(self, value: T) -> None:
        """Give the port a value at this tag. The last one set wins."""
        raise self._misused()

    def allocate(self, shape: int | tuple[int, ...], dtype: Any = float) -> Any:
        """A NumPy array to fill and pass to `set`, with undefined content. Readers see a large one without a copy.

        An int `shape` n is (n,). The default dtype is float64.
        """
        raise self._misused()

    def batch(self, shape: int | tuple[int, ...], dtype: Any = float) -> Any:
        """A `Batch` to pass to `set`, whose array its readers fill in place. `shape`, `dtype`: as for `allocate`."""
        raise self._misused()


class Timer(Element):
    """Fires at `offset`, then every `period` (ns); without a period, or with a period of 0, once.

    Each may be the name of a constructor parameter or a function of constructor parameters.

    >>> from reactorlib import MSEC, Reactor, reaction, run
    >>> class Clock(Reactor):
    ...     tick = Timer(offset=0, period=10 * MSEC)
    ...     @reaction(tick)
    ...     def beat(self, tick):
    ...         print("tick")
    >>> result = run(Clock, timeout=10 * MSEC, fast=True)
    tick
    tick
    """

    kind = "timer"
    is_present: bool

    def __init__(self, offset: Expression = 0, period: Expression | None = None) -> None:
        super().__init__()
        self.offset = offset
        self.period = period


class Action(Element, Generic[T]):
    """The base of logical and physical actions: a trigger that is scheduled for later, several times if need be."""

    value: T
    is_present: bool

    def __init__(
        self, min_delay: Expression = 0, min_spacing: Expression | None = None, policy: Policy | None = None
    ) -> None:
        super().__init__()
        self.min_delay = min_delay
        self.min_spacing = min_spacing
        self.policy = policy

    def schedule(self, extra_delay: int = 0, value: T | None = None) -> None:
        """Make the action occur `extra_delay` ns (plus its minimum delay) after now, carrying `value`."""
        raise self._misused()

    def argument(self, handle: Any) -> Any:
        """The argument of a reaction that schedules this action. A subclass may wrap the kernel's `handle`."""
        return handle


class LogicalAction(Action[T]):
    """An action in logical time: tag = now + min_delay + extra_delay. A total of 0 is the next microstep.

    `min_delay` and `min_spacing` are times such as `5 * MSEC`, or a parameter's name, or a function of parameters.
    `policy` settles two events that are closer than `min_spacing`:

    - `defer`, the default, moves the later one.
    - `drop` forgets the later one.
    - `replace` gives the pending one the later value.
    - `update` removes the pending one and schedules the later one.

    A spacing of 0 is one microstep. Without a spacing, an event whose tag is taken goes to the next free microstep.

    >>> from reactorlib import LogicalAction, MSEC, Reactor, current_tag, reaction, run, startup
    >>> class Echo(Reactor):
    ...     again = LogicalAction[str](min_delay=5 * MSEC)
    ...     @reaction(startup, effects=again)
    ...     def begin(self, again):
    ...         again.schedule(value="hello")
    ...     @reaction(again)
    ...     def reply(self, again):
    ...         print(again.value, current_tag())
    >>> result = run(Echo, fast=True)
    hello (5 ms, 0)
    """

    kind = "logical action"


class PhysicalAction(Action[T]):
    """An action that any thread may schedule. Its tag is the physical time, or just after now.

    After the end of the run, `schedule` raises RunError. A thread that schedules faster than reactions run is slowed
    down. See `run_handle` for threads that stop a run, or fail it.

    >>> import threading
    >>> from reactorlib import PhysicalAction, Reactor, reaction, request_stop, run, startup
    >>> class Listener(Reactor):
    ...     message = PhysicalAction[str]()
    ...     @reaction(startup, effects=message)
    ...     def begin(self, message):
    ...         threading.Thread(target=message.schedule, kwargs={"value": "hello"}).start()
    ...     @reaction(message)
    ...     def hear(self, message):
    ...         print(message.value)
    ...         request_stop()
    >>> result = run(Listener)
    hello
    """

    kind = "physical action"


class State(Element, Generic[T]):
    """A plain attribute with an initial value, of which each reactor gets a deep copy. A callable is called.

    With `reset=True`, a reset entry of its mode restores a deep copy of what the constructor left. If that cannot be
    copied, a callable initial value is called again. The mode is that of the `with` block around the state or reactor.

    >>> from reactorlib import Reactor, State, reaction, run, startup
    >>> class Counter(Reactor):
    ...     count = State(41)
    ...     @reaction(startup)
    ...     def begin(self):
    ...         self.count += 1
    ...         print(self.count)
    >>> result = run(Counter)
    42
    """

    kind = "state"

    def __init__(self, initial: T | Callable[[], T], reset: bool = False) -> None:
        super().__init__()
        self.initial = initial
        self.reset = reset

    def __get__(self, instance: object, owner: type) -> T:
        return self  # type: ignore[return-value]  # on the class; instances have their own attribute


class ModeBlock:
    """The `with` block of a mode, in a class body or in a constructor."""

    __slots__ = ()

    def __enter__(self) -> Self:
        if building.mode is not None:
            raise TypeError("modes of one reactor do not nest: put a modal reactor inside the mode instead")
        building.mode = self
        return self

    def __exit__(self, *_error: object) -> None:
        building.mode = None


class Mode(Element, ModeBlock):
    """A mode of a modal reactor. Declarations in its `with` block are suspended while it is not active.

    `with self.mode:` in the constructor does the same for contained reactors and connections. Two modes of a reactor
    are never active together. So each may have its own source of a port. Shutdown reactions run in every mode that was
    ever active.

    >>> from reactorlib import MSEC, Mode, Reactor, Timer, reaction, reset, run
    >>> class Lamp(Reactor):
    ...     off, on = Mode(initial=True), Mode()
    ...     with off:
    ...         wait = Timer(1 * MSEC)
    ...         @reaction(wait, effects=reset(on))
    ...         def light(self, wait, on):
    ...             on.set()
    ...     with on:
    ...         hold = Timer(2 * MSEC)
    ...         @reaction(hold)
    ...         def shine(self, hold):
    ...             print("on")
    >>> result = run(Lamp, fast=True)
    on
    """

    kind = "mode"

    def __init__(self, initial: bool = False) -> None:
        super().__init__()
        self.initial = initial

    def set(self) -> None:
        """Switch to this mode at the end of this tag."""
        raise self._misused()


class Transition(NamedTuple):
    """An effect that switches to `mode`: by reset or by history."""

    mode: Mode | str
    history: bool


class Signal:
    """`startup`, `shutdown` and `reset`: triggers that every reactor has.

    >>> from reactorlib import Reactor, reaction, run, shutdown, startup
    >>> class Hello(Reactor):
    ...     @reaction(startup)
    ...     def begin(self):
    ...         print("hello")
    ...     @reaction(shutdown)
    ...     def end(self):
    ...         print("bye")
    >>> result = run(Hello)
    hello
    bye
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class _Reset(Signal):
    """As a trigger, `reset` fires when the mode around the reaction is entered by reset. Called, it is that effect.

    >>> from reactorlib import Mode, Reactor, reaction, reset, run, startup
    >>> class Retry(Reactor):
    ...     trying = Mode(initial=True)
    ...     with trying:
    ...         @reaction(startup, effects=reset(trying))
    ...         def give_up(self, trying):
    ...             trying.set()
    ...         @reaction(reset)
    ...         def again(self):
    ...             print("again")
    >>> result = run(Retry)
    again
    """

    def __call__(self, mode: Mode | str) -> Transition:
        """The effect of switching to `mode` anew: its timers restart, its pending events are dropped."""
        return Transition(mode, history=False)


startup = Signal("startup")
"""Triggers reactions at the first tag of the program, or of a mode's first activation."""
shutdown = Signal("shutdown")
"""Triggers reactions at the last tag, in all modes that ever were active."""
reset = _Reset("reset")
"""Triggers reactions when their mode is entered by a reset; `reset(mode)` is the effect that does so."""


def history(mode: Mode | str) -> Transition:
    """The effect of switching to `mode` as it was left: its events resume with the delays that remained.

    >>> from reactorlib import Mode, history
    >>> history(Mode()).history
    True
    """
    return Transition(mode, history=True)
