"""A placement in which reactors that may run at once are on different workers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from reactorlib.elaboration.records import Elaborated
from reactorlib.schedule.partition import partition


def placement_by_level(program: Elaborated, workers: int) -> dict[str, int] | None:
    """A placement in which reactions of one level, which may run at once, are on different workers.

    None where banks that are spread evenly do as well. A reactor whose level leaves it the choice joins what it reads.
    """
    levels: dict[str, set[int]] = defaultdict(set)  # of the reactions of each reactor
    sources: dict[str, set[str]] = defaultdict(set)
    once = {trigger.cell for trigger in program.triggers if trigger.kind in ("startup", "shutdown")}
    writer = {cell: reaction.instance.path for reaction in program.reactions for cell in reaction.writes}
    for reaction, level in zip(program.reactions, program.order.level, strict=False):
        path = reaction.instance.path
        # A reaction that runs once counts on its own, below the levels: it separates only unconnected reactors.
        levels[path].add(level - len(program.order.level) if once.issuperset(reaction.triggers) else level)
        sources[path] |= {writer[cell] for cell in reaction.reads if cell in writer}
    placed: dict[str, int] = {}
    loads = Counter[tuple[int, int]]()
    for path, of in sorted(levels.items(), key=lambda item: max(item[1])):
        near = {placed[source] for source in sources[path] if source in placed}
        placed[path] = min(range(workers), key=lambda worker: (
            sum(loads[level, worker] for level in of if level >= 0), worker not in near,
            sum(loads[level, worker] for level in of), worker,
        ))  # fmt: skip
        loads.update((level, placed[path]) for level in of)
    usual = partition(program, workers).of_instance
    even = {instance.path: worker for instance, worker in zip(program.instances, usual, strict=True)}
    return placed if _busiest(levels, placed) < _busiest(levels, even) else None


def _busiest(levels: Mapping[str, set[int]], placed: Mapping[str, int]) -> tuple[int, int]:
    """The reactors on the busiest worker of each level, added up: of the levels, then of reactions that run once."""
    most: dict[int, int] = defaultdict(int)
    for (level, _), count in Counter((level, placed[path]) for path, of in levels.items() for level in of).items():
        most[level] = max(most[level], count)
    return sum(n for level, n in most.items() if level >= 0), sum(n for level, n in most.items() if level < 0)
