"""`python -m tests.reactorlib.executors.victim EXECUTOR WHAT LOG`: a run that goes on until a signal ends it.

It prints "ready" once all leaves have started and the part WHAT has begun.
"""

from __future__ import annotations

import sys
from typing import Any

from reactorlib import SEC, Timer, reaction, run
from tests.reactorlib.executors.programs import IDLE, Star

UNBREAKABLE = "leaf in C"
LATE = "leaf that obeys the fifth signal"
FAULTS: dict[str, dict[str, tuple[int, str]]] = {
    "rounds": {"hub": (3, "ready")},
    "sleeping leaf": {"leaf 1": (3, "sleep")},
    "computing leaf": {"leaf 1": (3, "compute")},
    "sleeping hub": {"hub": (3, "sleep")},
    "sleeping everywhere": {f"leaf {number}": (3, "sleep") for number in range(3)},
    "idle": {"hub": (3, IDLE)},
    UNBREAKABLE: {"leaf 1": (3, "compute in C")},
    LATE: {"leaf 1": (3, "sleep in C")},
}
WHAT = tuple(what for what in FAULTS if what not in (UNBREAKABLE, LATE))


class Victim(Star):
    far = Timer(100 * SEC)

    @reaction(far)
    def later(self, far) -> None: ...


def main(executor: str, what: str, log: str) -> None:
    """Run until a signal comes."""
    options: dict[str, Any] = {"placement": {"Victim.leaf[1]": 1, "Victim.leaf[2]": 2}, "workers": 3}
    faults = FAULTS[what]
    run(Victim, log=log, faults=faults, rounds=0, executor=executor, **({} if executor == "inline" else options))


if __name__ == "__main__":
    main(*sys.argv[1:])
