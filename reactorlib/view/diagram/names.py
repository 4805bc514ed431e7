"""What the names in a reaction's declaration stand for, as far as they stand for anything. Reports no fault."""

from __future__ import annotations

from typing import Any

from reactorlib.declaration.elements import Element
from reactorlib.declaration.instance import Bound, Instance, instance_of, name_in
from reactorlib.declaration.reactor import Bank, Reactor


def elements_named(instance: Instance, named: Any) -> list[Bound]:
    """The elements that a trigger, use or effect names: one, or that of each member of a contained bank."""
    text = named.name if isinstance(named, Element) else named
    if not isinstance(text, str):
        return []
    child, dot, element = text.partition(".")
    owners = _contained(instance, child) if dot else [instance]
    wanted = element if dot else text
    found = [owner.elements.get(name_in(owner.elements, wanted)) for owner in owners]
    return [bound for bound in found if bound is not None]


def _contained(instance: Instance, child: str) -> list[Instance]:
    """The reactors held as `child`: an attribute, or `attribute[index]`."""
    name, _, index = child.partition("[")
    attributes = vars(instance.reactor)
    held = attributes.get(name_in(attributes, name))
    members = list(held) if isinstance(held, Bank | list | tuple) else [held]
    if index and index.rstrip("]").isdigit():
        members = members[int(index.rstrip("]")) :][:1]
    return [instance_of(member) for member in members if isinstance(member, Reactor)]
