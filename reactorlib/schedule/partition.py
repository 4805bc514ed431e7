"""The worker of each reactor, decided once, before the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from reactorlib.elaboration.records import Elaborated
from reactorlib.errors import RunError, did_you_mean


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


def partition(program: Elaborated, workers: int, placement: Mapping[str, int] | None = None) -> Partition:
    """Place every reactor: the members of a bank evenly over the workers, all else with the first.

    `placement` maps paths of reactors to workers and holds for all that they contain. A reactor with a physical action
    stays on the first worker, where the event queue is. Raises RunError for an unknown path or worker.
    """
    placed: Mapping[str, Any] = placement or {}
    known = {instance.path: None for instance in program.instances} if placed else {}
    for path, worker in placed.items():
        if path not in known:
            raise RunError(f"placement names no reactor of this program: {path!r}{did_you_mean(path, known)}")
        if not isinstance(worker, int) or not 0 <= worker < workers:
            raise RunError(f"placement puts {path} on worker {worker!r}, there are workers 0 to {workers - 1}")
    of: dict[int, int] = {}
    together: set[int] = set()  # reactors whose parts stay with them
    for instance in program.instances:
        container = id(instance.parent)
        at = of.get(container, 0)
        if container in together:
            together.add(id(instance))
        elif instance.member is not None:
            at = worker_of_member(*instance.member, workers)
            if instance.member[1] > 1:
                together.add(id(instance))
        if instance.path in placed:
            at = placed[instance.path]
            together.add(id(instance))
        of[id(instance)] = at
    physical = {trigger.path.rpartition(".")[0] for trigger in program.triggers if trigger.kind == "physical"}
    of.update((id(instance), 0) for instance in program.instances if instance.path in physical)
    of_instance = tuple(of[id(instance)] for instance in program.instances)
    of_node = [of[id(reaction.instance)] for reaction in program.reactions]
    # All that sets a cell lives on one worker, so that what is set last at a tag is what everybody reads.
    home = {cell: of_node[r.index] for r in reversed(program.reactions) for cell in r.reads}
    home.update((cell, of_node[r.index]) for r in program.reactions for cell in r.writes)
    of_node += [home.get(forward.target, 0) for forward in program.forwards]
    return Partition(workers, of_instance, tuple(of_node))


def worker_of_member(index: int, size: int, workers: int) -> int:
    """The worker of a bank's member: contiguous blocks whose sizes differ by at most one, the larger ones first."""
    share, extra = divmod(size, workers)
    boundary = extra * (share + 1)
    return index // (share + 1) if index < boundary else extra + (index - boundary) // max(share, 1)
