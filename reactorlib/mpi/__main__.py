"""`python -m reactorlib.mpi SCRIPT [ARGUMENT ...]`, started by mpiexec, srun or the like.

The first rank runs the script. The others import it, as spawned processes do, so that what it does must be below
`if __name__ == "__main__":`. Then they serve the sessions that it opens with executor="mpi".

    mpiexec -n 4 python -m reactorlib.mpi train.py --seed 1
"""

from __future__ import annotations

import sys
from functools import cache, partial
from pathlib import Path
from time import monotonic
from types import ModuleType

from reactorlib.errors import RunError
from reactorlib.executors.distributed import LONGEST_END_S
from reactorlib.mpi.ranks import joined
from reactorlib.mpi.runs import serve


def main(arguments: list[str]) -> int:
    """Run the script, or serve it. The status of the process.

    An error of the script does not abort the job while the others answer: a launcher may report a killed rank's status.
    """
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    path = Path(arguments[0])
    if not path.is_file():
        print(f"reactorlib.mpi: no file {path}: give a script, and then its arguments", file=sys.stderr)
        return 2
    sys.argv[:] = arguments
    sys.path.insert(0, str(path.resolve().parent))
    try:
        ranks = joined()
    except RunError as error:
        print(f"reactorlib.mpi: {error}", file=sys.stderr)
        return 2
    ranks.is_served = True
    if ranks.rank:
        serve(ranks, cache(partial(_execute, path, "__mp_main__")))
        return 0
    try:
        _execute(path, "__main__")
    except SystemExit:
        ranks.request(None)
        raise
    except Exception:
        if ranks.is_broken:
            raise  # which aborts the job
        sys.excepthook(*sys.exc_info())
        ranks.leave_by = monotonic() + LONGEST_END_S, 1
        ranks.request(None)
        return 1
    ranks.request(None)
    return 0


def _execute(path: Path, name: str) -> None:
    """Run a file as the main module, which other processes know by either name."""
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
