"""Making a failing program small by taking it apart: whatever can go without making the failure go, goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from tests.reactorlib.reference.rule import Rule
from tests.reactorlib.reference.specification import SIGNALS, ClassSpec, ConnectionSpec, ProgramSpec, ReactionSpec

PARTS = ("children", "reactions", "connections", "timers", "actions", "states", "ports", "modes", "parameters")


def shrink(program: ProgramSpec, fails: Callable[[ProgramSpec], bool], attempts: int = 2000) -> ProgramSpec:
    """The smallest program found that still fails, after at most so many tries."""
    improved = True
    while improved and attempts > 0:
        improved = False
        for candidate in _simpler(program):
            attempts -= 1
            if fails(candidate):
                program, improved = candidate, True
                break
            if attempts <= 0:
                break
    return program


def _simpler(program: ProgramSpec) -> Iterator[ProgramSpec]:
    """Programs with one thing less, great things first."""
    needed = _needed(program)
    if len(needed) < len(program.classes):
        yield replace(program, classes=needed)
    for index in reversed(range(len(program.classes))):
        for smaller in _smaller_classes(program, program.classes[index]):
            classes = [*program.classes]
            classes[index] = smaller
            yield _consistent(replace(program, classes=tuple(classes)))
    if program.timeout_ns:
        yield replace(program, timeout_ns=program.timeout_ns // 2)


def _needed(program: ProgramSpec) -> tuple[ClassSpec, ...]:
    """The classes that the main one contains or extends."""
    names = {program.main.name}
    for spec in reversed(program.classes):
        if spec.name in names:
            names |= {child.reactor for child in spec.children} | ({spec.base} if spec.base else set())
    return tuple(spec for spec in program.classes if spec.name in names)


def _smaller_classes(program: ProgramSpec, spec: ClassSpec) -> Iterator[ClassSpec]:
    for part in PARTS:
        elements = getattr(spec, part)
        for index in range(len(elements)):
            if not (part == "modes" and index == 0 and len(elements) > 1):  # the first one is the initial one
                yield _with(spec, part, elements[:index] + elements[index + 1 :])
    for part in ("reactions", "children", "actions", "timers", "states", "connections"):
        elements = getattr(spec, part)
        for index, element in enumerate(elements):
            for simpler in _simpler_elements(element):
                yield _with(spec, part, (*elements[:index], simpler, *elements[index + 1 :]))
    if spec.base is not None:
        yield replace(spec, base=None)


def _with(spec: ClassSpec, part: str, elements: tuple[Any, ...]) -> ClassSpec:
    changed: dict[str, Any] = {part: elements}
    return replace(spec, **changed)


def _simpler_elements(element: Any) -> Iterator[Any]:
    """The element with one of its fields simpler."""
    for field in fields(element):
        value = getattr(element, field.name)
        if field.name in ("triggers", "uses", "effects", "arguments"):
            least = 2 if field.name == "triggers" else 1
            if len(value) >= least:
                shorter = [value[:index] + value[index + 1 :] for index in range(len(value))]
                yield from (replace(element, **{field.name: each}) for each in shorter)
        elif field.name == "deadline_ns" and value is not None:
            yield replace(element, deadline_ns=None, late=None)
        elif field.name in ("mode", "min_spacing_ns") and value is not None:
            yield replace(element, **{field.name: None})
        elif field.name in ("rule", "late") and value is not None:
            yield from (replace(element, **{field.name: rule}) for rule in _simpler_rules(value))
        elif field.name == "width" and isinstance(value, int) and value > 1:
            yield from (replace(element, width=width) for width in {value // 2, value - 1})


def _simpler_rules(rule: Rule) -> Iterator[Rule]:
    plain = Rule(rule.seed, 1)
    for field in fields(rule):
        value = getattr(plain, field.name)
        if field.name != "seed" and getattr(rule, field.name) != value:
            yield replace(rule, **{field.name: value})
    if rule.budget > 2:
        yield replace(rule, budget=rule.budget - 1)
    if rule.seed > 9:
        yield from (replace(rule, seed=seed) for seed in range(10))


def _consistent(program: ProgramSpec) -> ProgramSpec:
    """The program without what refers to something that is gone."""
    done: list[ClassSpec] = []
    for spec in program.classes:
        done.append(_repaired(ProgramSpec((*done, spec), 0), spec))
    return replace(program, classes=tuple(done))


def _repaired(program: ProgramSpec, spec: ClassSpec) -> ClassSpec:
    *bases, _ = program.lineage(spec)
    parameters = {name for part in (*bases, spec) for name, _ in part.parameters}
    spec = _without_modes(_without_parameters(spec, parameters))
    names = {name for part in (*bases, spec) for name in part.element_names}
    children = []
    for child in spec.children:
        reactor = program.named(child.reactor)
        inner = [*program.lineage(reactor)]
        known = {name for part in inner for name, _ in part.parameters}
        arguments = tuple(
            (name, value)
            for name, value in child.arguments
            if name in known and (not isinstance(value, str) or value in parameters)
        )
        width = 1 if isinstance(child.width, str) and child.width not in parameters else child.width
        children.append(replace(child, arguments=arguments, width=width))
        names |= {f"{child.name}.{port.name}" for part in inner for port in part.ports}
    reactions = [_reaction(reaction, names, spec.modes) for reaction in spec.reactions]
    connections = [each for each in spec.connections if _is_known(each, names)]
    return replace(
        spec,
        children=tuple(children),
        reactions=tuple(each for each in reactions if each.triggers),
        connections=tuple(connections),
    )


def _without_parameters(spec: ClassSpec, parameters: set[str]) -> ClassSpec:
    def known(value: Any, otherwise: Any) -> Any:
        name = value[0] if isinstance(value, tuple) else value
        return otherwise if isinstance(name, str) and name not in parameters else value

    return replace(
        spec,
        ports=tuple(replace(port, width=known(port.width, 1)) for port in spec.ports),
        timers=tuple(
            replace(timer, offset_ns=known(timer.offset_ns, 0), period_ns=known(timer.period_ns, None))
            for timer in spec.timers
        ),
        states=tuple(replace(state, initial=known(state.initial, 0)) for state in spec.states),
        actions=tuple(replace(each, min_delay_ns=known(each.min_delay_ns, 0)) for each in spec.actions),
    )


def _without_modes(spec: ClassSpec) -> ClassSpec:
    parts = ("timers", "actions", "states", "reactions", "children", "connections")
    kept: dict[str, Any] = {
        part: tuple(each for each in getattr(spec, part) if each.mode is None or each.mode in spec.modes)
        for part in parts
    }
    return replace(spec, **kept)


def _reaction(reaction: ReactionSpec, names: set[str], modes: tuple[str, ...]) -> ReactionSpec:
    return replace(
        reaction,
        triggers=tuple(name for name in reaction.triggers if name in names or name in SIGNALS),
        uses=tuple(name for name in reaction.uses if name in names),
        effects=tuple(
            effect
            for effect in reaction.effects
            if effect in names or (effect[1] in modes and not isinstance(effect, str))
        ),
    )


def _is_known(connection: ConnectionSpec, names: set[str]) -> bool:
    left = [name for name, _ in connection.left]
    return all(name in names for name in (*left, *connection.right))
