"""The worker of each reactor, decided once, before the run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from reactorlib.declaration.instance import Instance
from reactorlib.elaboration.records import Elaborated
from reactorlib.errors import RunError, did_you_mean

WORTH_MOVING = 1.1  # load of the busiest worker with members spread evenly, over that with members balanced


class Partition(NamedTuple):
    """The worker of every instance (by position in `program.instances`) and of every reaction and forward."""

    workers: int
    of_instance: tuple[int, ...]
    of_node: tuple[int, ...]

    def describe(self, program: Elaborated) -> str:
        """One line per worker: the reactors that live there."""
        lines = []
        for worker in range(self.workers):
            paths = [i.path for i, w in zip(program.instances, self.of_instance, strict=True) if w == worker]
            shown = ", ".join(paths[:6]) + (f", ... ({len(paths)} in all)" if len(paths) > 6 else "")
            lines.append(f"worker {worker}: {shown or 'nothing'}")
        return "\n".join(lines)


def partition(
    program: Elaborated,
    workers: int,
    placement: Mapping[str, int] | None = None,
    costs: Mapping[str, float] | None = None,
) -> Partition:
    """Place every reactor: the members of a bank evenly over the workers, all else with the first.

    `placement` maps paths of reactors to workers and holds for all that they contain. `costs` maps paths of
    reactors to measured time (any unit) and balances the members of each bank by it, with all that they contain. A
    reactor with a physical action stays on the first worker, where the event queue is. Raises RunError for an unknown
    path or worker.
    """
    placed = _checked(program, workers, placement or {})
    banks: dict[tuple[int, str], list[Instance]] = defaultdict(list)
    for instance in program.instances:
        if instance.member is not None and not _inside_spread(instance.parent):
            banks[id(instance.parent), instance.path.rpartition("[")[0]].append(instance)
    loads = _with_contents(program, costs or {})
    spread: dict[int, int] = {}
    for members in banks.values():
        spread |= _spread(members, workers, loads)
    of: dict[int, int] = {}
    for instance in program.instances:
        inherited = 0 if instance.parent is None else of[id(instance.parent)]
        of[id(instance)] = placed.get(instance.path, spread.get(id(instance), inherited))
    physical = {trigger.path.rpartition(".")[0] for trigger in program.triggers if trigger.kind == "physical"}
    of.update((id(instance), 0) for instance in program.instances if instance.path in physical)
    of_instance = tuple(of[id(instance)] for instance in program.instances)
    of_node = [of[id(reaction.instance)] for reaction in program.reactions]
    # All that sets a cell lives on one worker, so that what is set last at a tag is what everybody reads.
    home = {cell: of_node[r.index] for r in reversed(program.reactions) for cell in r.reads}
    home.update((cell, of_node[r.index]) for r in program.reactions for cell in r.writes)
    of_node += [home.get(forward.target, 0) for forward in program.forwards]
    return Partition(workers, of_instance, tuple(of_node))


def _checked(program: Elaborated, workers: int, placement: Mapping[str, Any]) -> Mapping[str, int]:
    known = {instance.path: None for instance in program.instances} if placement else {}
    for path, worker in placement.items():
        if path not in known:
            raise RunError(f"placement names no reactor of this program: {path!r}{did_you_mean(path, known)}")
        if not isinstance(worker, int) or not 0 <= worker < workers:
            raise RunError(f"placement puts {path} on worker {worker!r}, there are workers 0 to {workers - 1}")
    return placement


def _inside_spread(instance: Instance | None) -> bool:
    """Whether an enclosing reactor is itself a member of a bank: its contents stay together."""
    at = instance
    while at is not None:
        if at.member is not None and at.member[1] > 1:
            return True
        at = at.parent
    return False


def worker_of_member(index: int, size: int, workers: int) -> int:
    """The worker of a bank's member: contiguous blocks whose sizes differ by at most one, the larger ones first."""
    share, extra = divmod(size, workers)
    boundary = extra * (share + 1)
    return index // (share + 1) if index < boundary else extra + (index - boundary) // max(share, 1)


def _spread(members: list[Instance], workers: int, loads: Mapping[int, float]) -> dict[int, int]:
    """The workers of the members of a bank: evenly, or by known loads the dearest first to the least loaded worker.

    A bank is left even where balancing gains less than loads are measured to.
    """
    even = {id(m): worker_of_member(*m.member, workers) for m in members if m.member is not None}
    known = [loads[id(member)] for member in members if loads.get(id(member))]
    if not known:
        return even
    usual = sum(known) / len(known)
    evenly, balanced, found = [0.0] * workers, [0.0] * workers, dict[int, int]()
    for member in sorted(members, key=lambda member: loads.get(id(member), usual), reverse=True):
        worker = found[id(member)] = balanced.index(min(balanced))
        balanced[worker] += loads.get(id(member), usual)
        evenly[even[id(member)]] += loads.get(id(member), usual)
    return found if max(evenly) > WORTH_MOVING * max(balanced) else even


def _with_contents(program: Elaborated, costs: Mapping[str, float]) -> dict[int, float]:
    """The cost of each reactor with all that it contains, where something of it is known."""
    total: dict[int, float] = defaultdict(float)
    for instance in program.instances if costs else ():
        cost = costs.get(instance.path)
        at: Instance | None = instance if cost is not None else None
        while at is not None:
            total[id(at)] += cost or 0.0
            at = at.parent
    return total
