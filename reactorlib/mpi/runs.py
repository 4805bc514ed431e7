"""Runs that every rank calls, and sessions that the first rank drives."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from typing import TypeVar

from reactorlib.elaboration.elaborate import elaborated
from reactorlib.elaboration.records import Elaborated
from reactorlib.errors import RunError
from reactorlib.executors import ended_runs
from reactorlib.executors.executor import Executor
from reactorlib.executors.fingerprint import VERSIONED, difference, fingerprint, parameters, versions
from reactorlib.executors.library_threads import limited
from reactorlib.executors.start_method import pickled_program
from reactorlib.mpi.rank_executor import MPI, RankLife, serve_run
from reactorlib.mpi.ranks import ABORT, SERVE, Ranks, joined, serving
from reactorlib.schedule.partition import Partition, partition
from reactorlib.worker.coordinator import Coordinator
from reactorlib.worker.options import Options

Made = TypeVar("Made", bound=Elaborated)
Result = TypeVar("Result")
MakeExecutor = Callable[[Coordinator], Executor]

COMPARED = ("timeout", "fast", "keepalive", "trace")  # options; the partition shows the others


def on_ranks(
    make_program: Callable[[], Made], lead: Callable[[Made, MakeExecutor], Result], options: Options
) -> Result:
    """A run, as every rank of the job calls it: all return what `lead` returns on rank 0, or raise what it raises.

    Each rank makes the program. RunError on every rank if they would run different things, or workers outnumber ranks.
    """
    ranks = joined()
    if ranks.is_served:
        raise RunError("run(executor='mpi') is called by all ranks, and these serve sessions: use Session()")
    program, placed = _agreed(ranks, "run()", make_program, options)
    life = RankLife(ranks)
    result = None
    with life.handling_signals() if ranks.rank else nullcontext():
        with ranks.together("the end of run()"):
            if ranks.rank == 0:
                result = lead(program, lambda coordinator: MPI(coordinator, placed, ranks))
            elif ranks.rank < placed.workers:
                serve_run(ranks, life, program, placed, options.trace)
        return ranks.gather(result, "the result of run()")[0]  # type: ignore[no-any-return]


def _agreed(ranks: Ranks, place: str, make_program: Callable[[], Made], options: Options) -> tuple[Made, Partition]:
    """The program and its partition, the same on all ranks, or RunError on all."""
    with ranks.together(place):
        count = options.workers or ranks.size
        if count > ranks.size:
            raise RunError(
                f"workers={count}, but there are {ranks.size} ranks: each worker is a rank, which the launcher starts: "
                f"mpiexec -n {count} ..."
            )
        program = make_program()
        placed = partition(program, count, options.placement)
    aspects = versions()
    if not ranks.is_served:  # else the first rank has sent parameters and options
        shown = ", ".join(f"{name}={getattr(options, name)!r}" for name in COMPARED)
        aspects |= parameters(program) | {"the options of run()": shown}
    found = difference(ranks.gather(aspects | fingerprint(program, placed), place), ranks.names)
    if found is not None:
        ranks.fail(RunError(found))
    ranks.runs += 1
    return program, placed


def lead_session(coordinator: Coordinator) -> Executor:
    """Have the other ranks serve the session of this coordinator. Returns its executor."""
    program, options, ranks = coordinator.program, coordinator.options, serving()
    pickled = pickled_program(program.cls, program.parameters)
    if ranks.end_session is not None:
        ended_runs.collect()  # a session that was forgotten ends here
    if ranks.end_session is not None:
        raise RunError("the ranks serve one session at a time: close the other one first")
    modules = [name for name in VERSIONED if name in sys.modules]  # whose values travel
    ranks.request((pickled, options, modules))
    placed = _agreed(ranks, "Session()", lambda: program, options)[1]
    ranks.end_session = partial(ranks.tell_all, ABORT, (ranks.runs, None))
    try:
        executor = MPI(coordinator, placed, ranks)
    except BaseException:
        ranks.give_up()
        raise
    ranks.end_session = executor.kill
    return executor


def serve(ranks: Ranks, load_main: Callable[[], None]) -> None:
    """On the other ranks: serve the sessions of the first one, as `load_main` defines them, until it has no more."""
    life = RankLife(ranks)

    def make_program(pickled: bytes, modules: list[str]) -> Elaborated:
        load_main()
        for name in modules:
            import_module(name)
        cls, given = pickle.loads(pickled)
        return elaborated(cls, **given)

    with life.handling_signals():
        while (request := ranks.hear(0, SERVE)) is not None:
            pickled, options, modules = request
            make = partial(make_program, pickled, modules)
            try:
                program, placed = _agreed(ranks, "Session()", make, options)
            except Exception:  # noqa: BLE001  # the first rank raised it and continues
                continue
            if ranks.rank < placed.workers:
                with limited(options.library_threads):
                    serve_run(ranks, life, program, placed, options.trace)
