"""Folding: the equal members of a bank share one box."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import groupby
from typing import NamedTuple

from reactorlib.declaration.instance import Instance
from reactorlib.elaboration.records import Elaborated


class Group(NamedTuple):
    """The instances that one box stands for. `width`: of a folded bank, in each reactor that contains one."""

    id: str
    name: str
    width: int | None
    members: tuple[Instance, ...]


def root_group(program: Elaborated) -> Group:
    """The box of the whole program."""
    return Group(program.root.path, program.root.name, None, (program.root,))


def groups_in(group: Group, unfold: bool) -> list[Group]:
    """The boxes within a box. Its members are alike, so their children correspond one by one."""
    columns = list(zip(*(instance.children for instance in group.members), strict=True))
    found: list[Group] = []
    for name, adjacent in groupby(columns, key=lambda column: _bank_name(column[0])):
        bank = list(adjacent)
        in_bank = bank[0][0].name != name
        if in_bank and not unfold and len({_shape(instance) for column in bank for instance in column}) == 1:
            members = tuple(instance for column in zip(*bank, strict=True) for instance in column)
            found.append(Group(f"{group.id}.{name}", name, len(bank), members))
        else:
            found += [Group(f"{group.id}.{c[0].name}", c[0].name, None, tuple(c)) for c in bank]
    return found


def _shape(instance: Instance) -> Hashable:
    """Equal for instances that can share a box: of one class, with the same elements and contents."""
    return (
        type(instance.reactor),
        None if instance.mode is None else instance.mode.name,
        tuple((name, type(bound), getattr(bound, "multi", None)) for name, bound in instance.elements.items()),
        tuple((child.name, _shape(child)) for child in instance.children),
    )


def _bank_name(instance: Instance) -> str:
    """`workers` of `workers[3]`."""
    return instance.name.partition("[")[0] if instance.name.endswith("]") else instance.name
