"""The order of reactions within a tag: who depends on whom, levels, and deadlines inferred from below."""

from __future__ import annotations

from collections.abc import Iterator

from tests.reactorlib.reference.instances import NEVER_NS, Channel, Elaborated, Reaction
from tests.reactorlib.reference.specification import SHUTDOWN, ReactionSpec


def assign(program: Elaborated) -> bool:
    """Give every reaction its level and its inferred deadline; False where reactions or connections form a cycle."""
    reactions = program.reactions
    if any(link.after_ns is None and link.source in _reached([link.target], program) for link in program.links):
        return False
    edges = [(a, b) for a in reactions for b in _followers(a, program)]
    for reaction in reactions:
        declared = reaction.spec.deadline_ns
        reaction.deadline_ns = NEVER_NS if declared is None else declared
    for _ in range(len(reactions) + 1):
        changed = False
        for before, after in edges:
            if after.level <= before.level:
                after.level = before.level + 1
                changed = True
            if before.deadline_ns > after.deadline_ns:
                before.deadline_ns = after.deadline_ns
                changed = True
        if not changed:
            return True
    return False


def key(reaction: Reaction) -> tuple[int, int, int]:
    """Reactions of one tag run in the order of this key."""
    return reaction.deadline_ns, reaction.level, reaction.position


def _followers(before: Reaction, program: Elaborated) -> Iterator[Reaction]:
    """The reactions that come after one at any tag at which both run."""
    for after in before.instance.reactions:
        if before.position < after.position and not _exclusive(before.spec, after.spec):
            yield after
    for channel in _reached(_written(before), program):
        yield from program.readers[channel]


def _exclusive(one: ReactionSpec, other: ReactionSpec) -> bool:
    """Whether two reactions of a reactor never run at one tag. At shutdown, those of every mode run."""
    if SHUTDOWN in (*one.triggers, *other.triggers):
        return False
    return None not in (one.mode, other.mode) and one.mode != other.mode


def _reached(channels: list[Channel], program: Elaborated) -> list[Channel]:
    """The channels, and those that get their values at the same tag."""
    reached = list(channels)
    known = set(reached)
    for channel in reached:  # grows while it is walked
        for link in program.links_from[channel]:
            if link.after_ns is None and link.target not in known:
                known.add(link.target)
                reached.append(link.target)
    return reached


def _written(reaction: Reaction) -> list[Channel]:
    names = [effect for effect in reaction.spec.effects if isinstance(effect, str)]
    return reaction.instance.ports_named(names)
