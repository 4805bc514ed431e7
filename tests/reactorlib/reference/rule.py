"""The rule of a reaction body, decided by arithmetic alone.

A body sees numbers (what it reads, how often it ran, its state) and answers with a list of operations on its
effects. The built program and the interpreter ask the same question here; all that is under test lies outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Rule:
    """The constants of one reaction body.

    After `budget` invocations the body has no more effects, so that no loop of microsteps lasts for ever.
    `extras_ns` are the additional delays it may schedule with; at invocation `stop_at` it requests the stop. With
    `lists` the ports get lists of numbers instead of numbers. A body that is not `eager` leaves out some effects.
    """

    seed: int
    budget: int = 4
    extras_ns: tuple[int, ...] = (0,)
    stop_at: int | None = None
    lists: bool = False
    eager: bool = True


@dataclass(frozen=True)
class Sample:
    """One thing a body reads: whether it is present, and its value if the body may look at it."""

    present: bool
    value: Any = None


@dataclass(frozen=True)
class Operation:
    """One call on the effect number `effect`: set(value), schedule(extra_ns, value), switch() or stop()."""

    kind: str
    effect: int = 0
    value: Any = None
    extra_ns: int = 0


def mix(state: int, value: int) -> int:
    """One step of splitmix64, keyed by `value`."""
    state = (state + (value & MASK) * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def absorb(state: int, value: Any) -> int:
    """Mix None, a number or a list of numbers into the state."""
    if value is None:
        return mix(state, 1)
    if isinstance(value, int):
        return mix(mix(state, 2), value)
    state = mix(mix(state, 3), len(value))
    for item in value:
        state = absorb(state, item)
    return state


def fingerprint(rule: Rule, count: int, memory: int, samples: Sequence[Sample]) -> int:
    """Everything the body knows, as one number."""
    state = absorb(absorb(rule.seed, count), memory)
    for sample in samples:
        state = mix(state, 5 if sample.present else 7)
        state = absorb(state, sample.value)
    return state


def decide(rule: Rule, count: int, memory: int, samples: Sequence[Sample], effects: Sequence[str]) -> list[Operation]:
    """The operations of invocation `count` (from 1); effects are "port", "action" or "mode", one per channel."""
    if count > rule.budget:
        return []
    state = fingerprint(rule, count, memory, samples)
    operations: list[Operation] = []
    for effect, kind in enumerate(effects):
        state = mix(state, effect + 11)
        if kind == "port":
            operations += _writes(rule, effect, state)
        elif kind == "action":
            operations += _schedules(rule, effect, state)
        elif state % 2 == 0:
            operations.append(Operation("switch", effect))
    if rule.stop_at == count:
        operations.append(Operation("stop"))
    return operations


def remember(rule: Rule, count: int, memory: int, samples: Sequence[Sample]) -> int:
    """The new value of the state variable."""
    return fingerprint(rule, count, memory, samples) % 1000


def _writes(rule: Rule, effect: int, state: int) -> list[Operation]:
    choice = state % 16
    if choice < 4 and not rule.eager:
        return []
    value = (state >> 8) % 1000
    if choice == 15:  # twice at one tag: the last wins
        return [Operation("set", effect, _payload(rule, value + 1)), Operation("set", effect, _payload(rule, value))]
    return [Operation("set", effect, _payload(rule, value))]


def _payload(rule: Rule, value: int) -> Any:
    return [value, value % 7] if rule.lists else value


def _schedules(rule: Rule, effect: int, state: int) -> list[Operation]:
    choice = state % 8
    if choice < 2 and not rule.eager:
        return []
    extra_ns = rule.extras_ns[(state >> 8) % len(rule.extras_ns)]
    value = (state >> 16) % 100
    calls = [Operation("schedule", effect, value, extra_ns)]
    if choice == 7:  # twice for one tag
        calls.append(Operation("schedule", effect, value + 100, extra_ns))
    return calls
