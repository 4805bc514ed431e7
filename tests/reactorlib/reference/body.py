"""The body of the methods of a built program: the rule's question and answer, on the runtime's own elements.

With `log` open, each call writes what its arguments hold, on whatever worker it runs.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import reactorlib
from reactorlib.declaration.instance import instance_of
from tests.reactorlib.reference.rule import Rule, Sample, decide, remember

Elements = Iterable[tuple[str, Any]]
Seen = dict[tuple[tuple[int, int], str], list[tuple[bool, Any]]]  # by tag and reaction: present, value


class _Log:
    """A file that this process and those that it forks append to."""

    file: int | None = None


log = _Log()


@contextmanager
def logged() -> Iterator[Seen]:
    """The values that the reactions inside see, filled in afterwards."""
    seen: Seen = {}
    log.file = os.memfd_create("seen")
    fcntl.fcntl(log.file, fcntl.F_SETFL, os.O_APPEND)
    try:
        yield seen
        os.lseek(log.file, 0, os.SEEK_SET)
        with os.fdopen(os.dup(log.file), "rb") as lines:
            for line in lines:
                time_ns, microstep, path, looks = json.loads(line)
                key = (time_ns, microstep), path
                assert key not in seen, f"{path} runs twice at {key[0]}"
                seen[key] = [(present, value) for present, value in looks]
    finally:
        os.close(log.file)
        log.file = None


def perform(reactor: Any, name: str, rule: Rule, reads: Elements, effects: Elements) -> None:
    """Run one body. An element is a port, mutable, timer, action or mode, or "ports" or "mutables" for channels."""
    count = reactor.invocations[name] = reactor.invocations.get(name, 0) + 1
    samples = [sample for kind, element in reads for sample in _samples(kind, element)]
    samples.append(Sample(reactorlib.check_deadline()))
    targets = [target for kind, element in effects for target in _targets(kind, element)]
    if log.file is not None:
        looks = [(sample.present, sample.value) for sample in (*samples, *_held(targets))]
        # One call of the system: lines of several workers do not mix.
        os.write(log.file, json.dumps([*reactorlib.current_tag(), _path(reactor, name), looks]).encode() + b"\n")
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


def _held(targets: Iterable[tuple[str, Any]]) -> Iterator[Sample]:
    """The values of effects before the reaction changes them. An action's value may be read while it is present."""
    for kind, target in targets:
        if kind != "mode":
            present = target.is_present
            yield Sample(present, target.value if present or kind == "port" else None)


def _path(reactor: Any, name: str) -> str:
    return f"{instance_of(reactor).path}.{name}"


def _changed(channel: Any) -> Sample:
    """Read a mutable input, changing what was read in place."""
    value = channel.value if channel.is_present else None
    if isinstance(value, list):
        value.append(-1)
    return Sample(channel.is_present, value)


def _targets(kind: str, element: Any) -> list[tuple[str, Any]]:
    return [("port", channel) for channel in element] if kind == "ports" else [(kind, element)]
