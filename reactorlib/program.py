"""A program as its user holds it: elaborated, with its schedules as source and its picture. Runs nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from reactorlib.declaration.reactor import Reactor
from reactorlib.elaboration.elaborate import elaborated
from reactorlib.elaboration.records import Elaborated
from reactorlib.errors import ReactorError


class Program(Elaborated):
    """A reactor class and its parameters, elaborated. Immutable. Running it twice runs the constructors twice.

    >>> from reactorlib import Reactor, elaborate, reaction, startup
    >>> class Hello(Reactor):
    ...     @reaction(startup)
    ...     def begin(self): ...
    >>> elaborate(Hello).reactions[0].path
    'Hello.begin'
    """

    __slots__ = ()

    def source(self, *triggers: str, workers: int = 1, placement: Mapping[str, int] | None = None) -> str:
        """The Python source of the schedule for these simultaneous triggers, by path (default: startup).

        Examples: "Main.hub.tick", "startup", and the source port of a delayed connection. With several `workers`,
        first the placement, then the schedule of each worker. `placement` is as for `run`. Raises ReactorError for an
        unknown name.
        """
        from reactorlib.schedule.compiler import Compiler  # a program that only runs starts sooner without them
        from reactorlib.schedule.partition import partition
        from reactorlib.schedule.plan import plan_of
        from reactorlib.schedule.split import Splitter

        compiler, plan = Compiler(self, traced=False), plan_of(self, self.triggers_named(triggers or ("startup",)))
        if workers == 1:
            return compiler.write(plan).text
        placed = partition(self, workers, placement)
        parts = Splitter(self, placed, copies=True).split(plan)
        texts = ["".join(f"# {line}\n" for line in placed.describe(self).splitlines())]
        texts += [f"# worker {worker}\n{compiler.write(part).text}" for worker, part in sorted(parts.items())]
        return "\n".join(texts)

    def triggers_named(self, names: Collection[str]) -> list[int]:
        """The triggers with these paths, by index; several may have one. The main reactor's name may be left out."""
        paths = dict.fromkeys(trigger.path for trigger in self.triggers)
        shorter = {path.partition(".")[2]: path for path in reversed(paths) if "." in path}
        known = shorter | {path: path for path in paths}
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            raise ReactorError(f"{unknown!r} triggers nothing here: one of {', '.join(sorted(known)[:12])}")
        wanted = {known[name] for name in names}
        return [index for index, trigger in enumerate(self.triggers) if trigger.path in wanted]

    def __repr__(self) -> str:
        return f"<program {self.root.path}: {len(self.instances)} reactors, {len(self.reactions)} reactions>"

    def _repr_html_(self) -> str:
        from reactorlib.view.diagram.build import diagram_of
        from reactorlib.view.diagram.html import fragment_text

        return fragment_text(diagram_of(self))


def elaborate(cls: type[Reactor], /, **parameters: Any) -> Program:
    """Construct the reactor tree and freeze it into a Program. Raises ElaborationError with every static fault.

    >>> from reactorlib import Input, Reactor, elaborate, reaction
    >>> class Sink(Reactor):
    ...     inp = Input(width=0)
    ...     @reaction("imp")
    ...     def hear(self, imp): ...
    >>> elaborate(Sink)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    reactorlib.errors.ElaborationError: 2 faults in the program:
      1. Sink.inp: width must be a positive integer, got 0 (...:2)
      2. Sink.hear: trigger 'imp' names no element of Sink: did you mean 'inp'? (...:3)
    """
    made = elaborated(cls, **parameters)
    return Program(*(getattr(made, field.name) for field in fields(made)))
