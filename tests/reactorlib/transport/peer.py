"""A second process for the tests of the transport: forked, bounded in every wait, never left behind."""

import os
import select
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reactorlib.errors import WorkerError
from reactorlib.transport.exchange import Endpoint, Exchange

LIMIT_S = 60


def endpoint(exchange: Exchange, me: int, check: Callable[[], None] | None = None) -> Endpoint:
    """The end of worker `me`. Without a check, waits end once the exchange is aborted."""

    def check_abort() -> None:
        if exchange.aborted:
            raise WorkerError("the exchange was aborted")

    return Endpoint(exchange, me, check or check_abort)


class Peer:
    """Worker `me` of an exchange in a forked process that runs `serve(endpoint)` and then exits.

    An exception there aborts the exchange, which ends our waits, and fails the test when the peer is joined.
    """

    def __init__(self, exchange: Exchange, me: int, serve: Callable[[Endpoint], Any]) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forks beside threads: the child is on its own
            self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                serve(endpoint(exchange, me))
                status = 0
            except BaseException:  # noqa: BLE001  whatever it was, the test is told
                traceback.print_exc()
                exchange.abort()
            finally:
                sys.stderr.flush()
                os._exit(status)
        self._pidfd = os.pidfd_open(self.pid)
        self.status: int | None = None

    def wait(self, limit_s: float = LIMIT_S) -> int | None:
        """The exit status, negative for a signal that killed it. None if it still runs after `limit_s` seconds."""
        if self.status is None and select.select([self._pidfd], [], [], limit_s)[0]:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._pidfd)
        return self.status

    @property
    def is_alive(self) -> bool:
        return self.wait(0) is None

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.is_alive:
            os.kill(self.pid, signal.SIGKILL)
            assert self.wait() is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if kind is not None:
            self.kill()
            return
        status = self.wait()
        self.kill()
        assert status == 0, f"the peer ended with {status}"


def resident_bytes(pid: int) -> int:
    """How much memory a process has in use, shared memory included."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
