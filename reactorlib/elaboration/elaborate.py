"""From a reactor class to a frozen record: construct the tree, name it, resolve it, order it, report all faults."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reactorlib.declaration.building import building
from reactorlib.declaration.instance import Instance, instance_of
from reactorlib.declaration.reactor import Bank, Reactor, is_reactor_class
from reactorlib.elaboration.connections import Resolution
from reactorlib.elaboration.dependencies import order_of
from reactorlib.elaboration.lookup import look_up_reactions
from reactorlib.elaboration.program import DependencyGraph, Elaborated
from reactorlib.elaboration.states import reset_states
from reactorlib.errors import ElaborationError


def elaborated(cls: type[Reactor], /, **parameters: Any) -> Elaborated:
    """The record of a reactor class with these parameters. Raises ElaborationError with every static fault at once."""
    program, faults = examine(cls, **parameters)
    if faults:
        raise ElaborationError(faults)
    return program


def examine(cls: type[Reactor], /, **parameters: Any) -> tuple[Elaborated, list[str]]:
    """The record together with its static faults, for drawing: one with faults must not run.

    With a causality cycle, which `cycle` says, its `order` is empty. Raises ElaborationError where a constructor does.
    """
    if not is_reactor_class(cls):
        raise ElaborationError([f"expected a reactor class, got {cls!r}"])
    outer, building.stack, building.bank_index = building.stack, [], 0
    try:
        root = instance_of(cls(**parameters))
    finally:
        building.stack = outer
    with _no_garbage():
        return _freeze(cls, parameters, root)


def _freeze(cls: type[Reactor], parameters: dict[str, Any], root: Instance) -> tuple[Elaborated, list[str]]:
    instances = tuple(named_tree(root))
    resolution = Resolution(instances)
    look_up_reactions(resolution, instances)
    resets = reset_states(resolution, instances)
    faults = [fault.replace("{path}", i.path) for i in instances for fault in i.faults]
    faults += resolution.faults
    graph = DependencyGraph(resolution.reactions, resolution.forwards, resolution.triggers)
    order, cycle = order_of(resolution, graph, faults)
    program = Elaborated(
        cls=cls,
        parameters=parameters,
        root=root,
        instances=instances,
        ports=tuple(resolution.ports),
        port_starts=tuple(port.first for port in resolution.ports),
        channels=resolution.channels,
        cell_of=tuple(resolution.alias),
        cell_paths=resolution.paths,
        outputs=resolution.outputs,
        reactions=tuple(resolution.reactions),
        forwards=tuple(resolution.forwards),
        triggers=tuple(resolution.triggers),
        modes=tuple(resolution.modes),
        reset_states=resets,
        graph=graph,
        order=order,
        cycle=cycle,
        cells=resolution.cells,
    )
    return program, faults


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Pause the cyclic garbage collector, which would take a third of the time of a large program for nothing.

    All objects made here stay. Hardly any code of the user's program runs meanwhile.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def named_tree(root: Instance) -> Iterator[Instance]:
    """All instances in pre-order, each given its path from the attribute that holds it."""
    stack = [root]
    while stack:
        instance = stack.pop()
        if instance.children:
            _name_children(instance)
            stack.extend(reversed(instance.children))
        yield instance


def _name_children(instance: Instance) -> None:
    named: set[int] = set()
    for attribute, held in vars(instance.reactor).items():
        if isinstance(held, Reactor):
            members: list[tuple[str, Any]] = [(attribute, held)]
        elif isinstance(held, Bank | list | tuple):
            members = [(f"{attribute}[{i}]", m) for i, m in enumerate(held) if isinstance(m, Reactor)]
        else:
            continue
        for position, (name, member) in enumerate(members):
            child = instance_of(member)
            if child.parent is instance and id(child) not in named:
                named.add(id(child))
                child.name = name
                child.member = None if held is member else (position, len(members))
                child.path = f"{instance.path}.{name}"
    for child in instance.children:
        if id(child) not in named:
            child.path = f"{instance.path}.<{type(child.reactor).__name__}>"
            kind = type(child.reactor).__name__
            instance.fault(f" makes a {kind} that no attribute holds: assign it to self.<name>", child.where)
