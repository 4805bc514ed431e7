"""`mpiexec -n 2 python -m tests.reactorlib.mpi [arguments of pytest]`: tests whose programs run on all ranks.

Every rank runs the same tests, and comes to every `run` that the first one comes to. A test that ends early on one rank
ends on all. The first rank reports. With "mpi:2:scattered", say, in REACTORLIB_TEST_EXECUTORS the conformance tests run
like this.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from tempfile import TemporaryDirectory

import pytest

from reactorlib.errors import RunError
from reactorlib.mpi.ranks import joined


class InStep:
    """Tests begin on all ranks at once."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        meet(f"before {item.nodeid}")
        result = yield
        meet(f"after {item.nodeid}")
        return result


def meet(place: str) -> None:
    """Wait until all ranks are at this place. A wait elsewhere fails there."""
    while True:
        with suppress(RunError):
            joined().gather(None, place)
            return


def main() -> int:
    """The status of pytest on the first rank. The others see only a part of the reactions."""
    os.environ.setdefault("REACTORLIB_TEST_EXECUTORS", f"mpi:{joined().size}:scattered")
    if joined().rank:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # sessions that share one disturb each other
        status = pytest.main(["-pno:cacheprovider", f"--basetemp={folder}/pytest", *sys.argv[1:]], plugins=[InStep()])
    vars(sys).pop("last_value", None)  # of a test that failed, which is no reason to abort
    return 0 if joined().rank else int(status)


if __name__ == "__main__":
    sys.exit(main())
