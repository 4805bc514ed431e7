"""What the methods of a built program call: the rule's question and answer, on the runtime's own elements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import reactorlib
from tests.reactorlib.reference.rule import Rule, Sample, decide, remember

Elements = Iterable[tuple[str, Any]]


def perform(reactor: Any, name: str, rule: Rule, reads: Elements, effects: Elements) -> None:
    """Run one body. Kinds of elements: port, mutable, timer, action, mode; "ports", "mutables": several channels."""
    count = reactor.invocations[name] = reactor.invocations.get(name, 0) + 1
    samples = [sample for kind, element in reads for sample in _samples(kind, element)]
    samples.append(Sample(reactorlib.check_deadline()))
    targets = [target for kind, element in effects for target in _targets(kind, element)]
    memory = getattr(reactor, "memory", 0)
    if hasattr(reactor, "memory"):
        reactor.memory = remember(rule, count, memory, samples)
    for operation in decide(rule, count, memory, samples, [kind for kind, _ in targets]):
        target: Any = targets[operation.effect][1] if targets else None
        match operation.kind:
            case "set":
                target.set(operation.value)
            case "schedule":
                target.schedule(operation.extra_ns * reactorlib.NSEC, value=operation.value)
            case "switch":
                target.set()
            case _:
                reactorlib.request_stop()


def _samples(kind: str, element: Any) -> list[Sample]:
    match kind:
        case "ports":
            return [Sample(channel.is_present, channel.value) for channel in element]
        case "mutables":
            return [_changed(channel) for channel in element]
        case "mutable":
            return [_changed(element)]
        case "timer":
            return [Sample(element.is_present)]
        case "action":
            return [Sample(element.is_present, element.value if element.is_present else None)]
        case _:
            return [Sample(element.is_present, element.value)]


def _changed(channel: Any) -> Sample:
    """Read a mutable input, changing what was read in place."""
    value = channel.value if channel.is_present else None
    if isinstance(value, list):
        value.append(-1)
    return Sample(channel.is_present, value)


def _targets(kind: str, element: Any) -> list[tuple[str, Any]]:
    return [("port", channel) for channel in element] if kind == "ports" else [(kind, element)]
