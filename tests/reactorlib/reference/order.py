"""The order of reactions within a tag: who depends on whom, levels, and deadlines inferred from below."""

from __future__ import annotations

from tests.reactorlib.reference.instances import NEVER_NS, Channel, Elaborated, Instance, Link, Reaction


def assign(program: Elaborated) -> bool:
    """Give every reaction its level and its inferred deadline; False where reactions or connections form a cycle."""
    reactions = program.reactions
    if any(_returns(link, program.links) for link in program.links):
        return False
    edges = [(a, b) for a in reactions for b in reactions if _precedes(a, b, program.links)]
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


def _precedes(before: Reaction, after: Reaction, links: list[Link]) -> bool:
    if before.instance is after.instance:
        exclusive = None not in (before.spec.mode, after.spec.mode) and before.spec.mode != after.spec.mode
        if not exclusive and before.position < after.position:
            return True
    reached = _reached(_written(before), links)
    return any(channel in reached for channel in _read(after))


def _reached(channels: list[Channel], links: list[Link]) -> list[Channel]:
    """The channels, and those that get their values at the same tag."""
    reached = list(channels)
    for channel in reached:  # grows while it is walked
        for link in links:
            if link.source is channel and link.after_ns is None and link.target not in reached:
                reached.append(link.target)
    return reached


def _returns(link: Link, links: list[Link]) -> bool:
    """Whether a value that crosses the link comes back to where it started."""
    return link.after_ns is None and link.source in _reached([link.target], links)


def _written(reaction: Reaction) -> list[Channel]:
    names = [effect for effect in reaction.spec.effects if isinstance(effect, str)]
    return _ports(reaction.instance, names)


def _read(reaction: Reaction) -> list[Channel]:
    return _ports(reaction.instance, [*reaction.spec.triggers, *reaction.spec.uses])


def _ports(instance: Instance, names: list[str]) -> list[Channel]:
    ports = [name for name in names if "." in name or name in instance.ports]
    return [channel for name in ports for channel in instance.channels(name)]
