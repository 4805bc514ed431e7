"""From a reactor class to a frozen record: construct the tree, name it, resolve it, order it, report all faults."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any

from reactorlib.declaration.building import building
from reactorlib.declaration.class_body import declarations_of
from reactorlib.declaration.elements import State
from reactorlib.declaration.instance import Instance, instance_of
from reactorlib.declaration.reactor import Bank, Reactor, is_reactor_class
from reactorlib.elaboration.dependencies import order_of
from reactorlib.elaboration.lookup import look_up_reactions
from reactorlib.elaboration.records import DependencyGraph, Elaborated
from reactorlib.elaboration.resolution import Resolution
from reactorlib.errors import ElaborationError, words_of


def elaborated(cls: type[Reactor], /, **parameters: Any) -> Elaborated:
    """The record of a reactor class with these parameters. Raises ElaborationError with every static fault at once."""
    program, faults = examine(cls, **parameters)
    if faults:
        raise ElaborationError(faults)
    return program


def examine(cls: type[Reactor], /, **parameters: Any) -> tuple[Elaborated, list[str]]:
    """The record together with its static faults, for drawing: one with faults must not run.

    With a causality cycle, shown by `cycle`, its `order` is empty. Raises ElaborationError where a constructor does.
    """
    if not is_reactor_class(cls):
        given: Any = cls
        hint = ": give its class, and its parameters by name" if isinstance(given, Reactor) else ""
        raise ElaborationError([f"expected a reactor class, got {given!r}{hint}"])
    outer = building.stack, building.bank_index, building.mode
    building.stack, building.bank_index, building.mode = [], 0, None
    try:
        root = instance_of(cls(**parameters))
    finally:
        building.stack, building.bank_index, building.mode = outer
    # All objects made here stay: the garbage collector would take a third of a large program's time for nothing.
    enabled = gc.isenabled()
    gc.disable()
    try:
        return _freeze(cls, parameters, root)
    finally:
        if enabled:
            gc.enable()


def _freeze(cls: type[Reactor], parameters: dict[str, Any], root: Instance) -> tuple[Elaborated, list[str]]:
    instances = tuple(named_tree(root))
    resolution = Resolution(instances)
    look_up_reactions(resolution, instances)
    resets = _reset_states(resolution, instances)
    faults = [fault.replace("{path}", i.path) for i in instances for fault in i.faults]
    faults += resolution.faults
    graph = DependencyGraph(resolution.reactions, resolution.forwards, resolution.triggers)
    order, cycle = order_of(resolution, graph, faults)
    program = Elaborated(
        cls=cls, parameters=parameters, root=root, instances=instances,
        cell_of=tuple(resolution.alias), cell_path=resolution.paths.__getitem__, outputs=resolution.outputs,
        reactions=tuple(resolution.reactions), forwards=tuple(resolution.forwards),
        triggers=tuple(resolution.triggers), modes=tuple(resolution.modes), reset_states=resets, graph=graph,
        order=order, cycle=cycle,
    )  # fmt: skip
    return program, faults


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
    unnamed = {id(child): child for child in instance.children}
    for attribute, held in vars(instance.reactor).items():
        if isinstance(held, Reactor):
            members: list[tuple[str, Any]] = [(attribute, held)]
        elif unnamed and isinstance(held, Bank | list | tuple):
            members = [(f"{attribute}[{i}]", m) for i, m in enumerate(held) if isinstance(m, Reactor)]
        else:
            continue
        for position, (name, member) in enumerate(members):
            child = unnamed.pop(id(instance_of(member)), None)
            if child is not None:
                child.name = name
                child.member = None if held is member else (position, len(members))
                child.path = f"{instance.path}.{name}"
    for child in unnamed.values():
        kind = type(child.reactor).__name__
        child.path = f"{instance.path}.<{kind}>"
        dicts = (name for name, held in vars(instance.reactor).items()
                 if isinstance(held, dict) and any(one is child.reactor for one in held.values()))  # fmt: skip
        remedy = "assign it to self.<name>, or to a list there" + "".join(f", instead of the dict {n}" for n in dicts)
        instance.fault(f" makes a {kind} that no attribute holds: {remedy}", child.line)


def _reset_states(resolution: Resolution, instances: Iterable[Instance]) -> dict[int, list[Callable[[], None]]]:
    """The `State(reset=True)` of each mode: declared in it, or in a reactor that lies in it."""
    found: dict[int, list[Callable[[], None]]] = {}
    for instance in instances if resolution.modes else ():
        for name, declared in declarations_of(type(instance.reactor)).elements.items():
            if isinstance(declared, State) and declared.reset:
                mode = resolution.mode_of(instance, declared.mode)
                if mode is not None:
                    found.setdefault(mode, []).append(_restoring(instance, name, declared, resolution.faults))
    return found


def _restoring(instance: Instance, name: str, declared: State[Any], faults: list[str]) -> Callable[[], None]:
    """A function that gives a state a fresh copy of the value that the constructor left."""
    reactor, fresh = instance.reactor, declared.initial
    try:
        fresh = partial(deepcopy, deepcopy(vars(reactor)[name]))
    except Exception as error:  # noqa: BLE001  # of the user's code, reported as a fault
        if not callable(fresh):
            told = f"a reset restores a copy of what the constructor left, which raised {type(error).__name__}"
            words = f"{told}: {words_of(error)}; State(callable, reset=True) makes it anew"
            faults.append(f"{instance.path}.{name}: {words}")
    return lambda: setattr(reactor, name, fresh())
