"""The worker of each reactor, decided once, before the run.

Free reactors are placed by list scheduling, as if all reactions took equally long. For this method, see Graham, "Bounds
on multiprocessing timing anomalies" (SIAM Journal on Applied Mathematics, 1969).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from reactorlib.elaboration.records import Cell, Elaborated, Node
from reactorlib.errors import RunError, did_you_mean
from reactorlib.schedule.moments import ONCE, Moment, moments_of


class Partition(NamedTuple):
    """The worker of every instance (by position in `program.instances`) and of every reaction and forward."""

    workers: int
    of_instance: tuple[int, ...]
    of_node: tuple[int, ...]
    abreast: int  # the most workers that run reactions side by side, if all reactions take equally long

    def describe(self, program: Elaborated) -> str:
        """One line per worker: the reactors that live there."""
        lines = []
        for worker in range(self.workers):
            paths = [i.path for i, w in zip(program.instances, self.of_instance, strict=True) if w == worker]
            shown = ", ".join(paths[:6]) + (f", ... ({len(paths)} in all)" if len(paths) > 6 else "")
            lines.append(f"worker {worker}: {shown or 'nothing'}")
        return "\n".join(lines)


def partition(program: Elaborated, workers: int, placement: Mapping[str, int] | None = None) -> Partition:
    """Place every reactor: the members of a bank evenly over the workers, the others so that they can run side by side.

    `placement` maps paths of reactors to workers and holds for all that they contain. With it, reactors that it does
    not name stay with their container, unless they are members of a bank. The main reactor is on the first worker. So
    is one with a physical action, as the event queue is there. A reactor that sets nothing stays with its container,
    as it is there for what it leaves behind. Raises RunError for an unknown path or worker.
    """
    of, together, full = _contained(program, workers, placement or {})
    stay = {trigger.path.rpartition(".")[0] for trigger in program.triggers if trigger.kind == "physical"}
    of.update((id(instance), 0) for instance in program.instances if instance.path in stay)
    free: set[int] = set()
    if placement is None:
        stay.add(program.root.path)
        sets = {id(reaction.instance) for reaction in program.reactions if reaction.writes}
        free = {id(one) for one in program.instances if one.path not in stay and id(one) in sets} - together
    abreast = _rehearsed(program, workers, of, free, full)
    of_instance = tuple(of[id(instance)] for instance in program.instances)
    of_node = [of[id(reaction.instance)] for reaction in program.reactions]
    # All that sets a cell lives on one worker, so that what is set last at a tag is what everybody reads.
    home = {cell: of_node[r.index] for r in reversed(program.reactions) for cell in r.reads}
    home.update((cell, of_node[r.index]) for r in program.reactions for cell in r.writes)
    of_node += [home.get(forward.target, 0) for forward in program.forwards]
    return Partition(workers, of_instance, tuple(of_node), abreast)


def _contained(
    program: Elaborated, workers: int, placed: Mapping[str, Any]
) -> tuple[dict[int, int], set[int], set[int]]:
    """The worker of each reactor by its bank or by `placed`, else that of its container.

    Second, the reactors that stay there with their parts. Third, those in banks that have members on every worker.
    """
    known = {instance.path: None for instance in program.instances} if placed else {}
    for path, worker in placed.items():
        if path not in known:
            raise RunError(f"placement names no reactor of this program: {path!r}{did_you_mean(path, known)}")
        if not isinstance(worker, int) or not 0 <= worker < workers:
            raise RunError(f"placement puts {path} on worker {worker!r}, there are workers 0 to {workers - 1}")
    of: dict[int, int] = {}
    together: set[int] = set()
    full: set[int] = set()
    for instance in program.instances:
        reactor, container = id(instance), id(instance.parent)
        of[reactor] = of.get(container, 0)
        if container in together:
            together.add(reactor)
            if container in full:
                full.add(reactor)
        elif instance.member is not None:
            of[reactor] = worker_of_member(*instance.member, workers)
            if instance.member[1] > 1:
                together.add(reactor)
            if instance.member[1] >= workers:
                full.add(reactor)
        if instance.path in placed:
            of[reactor] = placed[instance.path]
            together.add(reactor)
    return of, together, full


def worker_of_member(index: int, size: int, workers: int) -> int:
    """The worker of a bank's member: contiguous blocks whose sizes differ by at most one, the larger ones first."""
    share, extra = divmod(size, workers)
    boundary = extra * (share + 1)
    return index // (share + 1) if index < boundary else extra + (index - boundary) // max(share, 1)


def _rehearsed(program: Elaborated, workers: int, of: dict[int, int], free: set[int], full: set[int]) -> int:
    """Go through each moment as if reactions took equally long. Put a free reactor where it can begin first.

    Of several such workers, the reactor takes that of a reactor that it reads. No reactor evades a bank in `full`, as
    such a bank keeps every worker busy. A reaction that waits for others of its tag and sets nothing takes no time.
    Returns the most workers that ever run reactions side by side.
    """
    graph, order, moments = program.graph, program.order, moments_of(program)
    idle_at = Counter[tuple[Moment, int]]()  # of workers
    set_at = Counter[tuple[Moment, Cell]]()
    writer: dict[Cell, int] = {}
    running = defaultdict[tuple[Moment, int], set[int]](set)

    def turn(node: Node) -> tuple[bool, int, bool, int]:
        reaction = graph.reaction(node)
        is_free = reaction is not None and id(reaction.instance) in free
        return moments[node][0] == ONCE, order.level[node], is_free, order.rank[node]

    for node in sorted(moments, key=turn):
        moment, reaction, reads = moments[node], graph.reaction(node), graph.reads[node]
        begin = end = max([set_at[moment, cell] for cell in reads], default=0)
        if reaction is None:
            worker = writer.get(reads[0], 0)
        else:
            reactor = id(reaction.instance)
            if reactor in free:
                free.remove(reactor)
                near = {writer[cell] for cell in reads if cell in writer}
                of[reactor] = min(range(workers), key=lambda w: (
                    max(begin, idle_at[moment, w]), w not in near, w,
                ))  # fmt: skip
            worker = of[reactor]
            collects = begin > 0 and not reaction.writes
            begin = end = max(begin, idle_at[moment, worker])
            if not collects:
                end = begin + 1
                running[moment, begin].add(worker)
            if reactor not in full:
                idle_at[moment, worker] = end
        for cell in graph.writes[node]:
            set_at[moment, cell], writer[cell] = max(end, set_at[moment, cell]), worker
    return max(map(len, running.values()), default=1)
