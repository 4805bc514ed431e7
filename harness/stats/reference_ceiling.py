"""The reference ceiling of a point, where a run has a backend that stands for it.

It is the copies alone, where copying is all that a round does. Elsewhere it is plain loops on all cores that exchange
nothing but the number of the round, or one loop where that is faster.
"""

from collections.abc import Mapping
from statistics import fmean

from workloads.catalogue import BACKENDS

# As a baseline: no backend, but the measure of all.
CEILING = "ceiling"
_COPIES = "limit"  # the backend that copies alone


def ceiling(trials: Mapping[str, Mapping[int, float]], higher_is_better: bool) -> str | None:
    """The backend from which a point's ceiling is taken; None where none was measured.

    `trials`: the values of every backend there, by trial.
    """
    measured = [name for name, values in trials.items() if is_limit(name) and values]
    if not measured:
        return None
    # Loops that have to wait for each other are slower than one where rounds are short.
    alone = [name for name in trials if name in BACKENDS and BACKENDS[name].module == "on_serial" and trials[name]]
    best = max if higher_is_better else min
    return best([*measured, *alone], key=lambda name: fmean(trials[name].values()))


def is_limit(backend: str) -> bool:
    """Whether a backend is a reference ceiling and no contestant."""
    return backend in BACKENDS and BACKENDS[backend].role == "limit"


def shares_ceiling(backend: str, other: str) -> bool:
    """Whether the ceiling of a backend may come from another one: of the same interpreter, or of copies alone."""
    interpreters = {BACKENDS[name].interpreter for name in (backend, other) if name in BACKENDS}
    return len(interpreters) < 2 or other == _COPIES
