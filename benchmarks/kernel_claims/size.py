"""How much each claim measures: everything that a shorter run would change, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """`tags` is how many tags of a small shape a repetition measures; the other names say what they count."""

    repetitions: int
    tags: int
    many_clients: int
    few_reactors: int
    many_reactors: int
    many_repetitions: int  # of what takes seconds
    bank: int
    growth: int  # a program is compared with one so many times larger
    tree_depth: int
    tree_children: int
    all_to_all: int
    processes: int
    loop_tags: int
    timers: int
    lines: int  # of a program's text


FULL = Size(
    repetitions=9,
    tags=20_000,
    many_clients=4_096,
    few_reactors=100,
    many_reactors=100_000,
    many_repetitions=5,
    bank=10_000,
    growth=4,
    tree_depth=5,
    tree_children=4,
    all_to_all=50,
    processes=15,
    loop_tags=10_000_000,
    timers=1_000,
    lines=1_000,
)

TINY = Size(
    repetitions=2,
    tags=200,
    many_clients=64,
    few_reactors=10,
    many_reactors=100,
    many_repetitions=2,
    bank=50,
    growth=4,
    tree_depth=2,
    tree_children=2,
    all_to_all=4,
    processes=2,
    loop_tags=20_000,
    timers=20,
    lines=100,
)
