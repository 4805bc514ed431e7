"""Drivers that stay for the next block, of backends whose daemons take long to start: Ray's.

The program of a block ends with it, and with the program its actors. The next block's has fresh ones. Drivers and
daemons are fresh in each trial of a point, as those of one trial go from point to point.
"""

from contextlib import AbstractContextManager
from pathlib import Path

from harness.measure.measured_processes import Running, Subject, SubjectError


class Kept(AbstractContextManager["Kept"]):
    """The drivers that wait for a block, by the names of their subjects. A context manager; at its end none is left."""

    def __init__(self) -> None:
        self._waiting: dict[str, Running] = {}
        self._trial: int | None = None

    def __exit__(self, *exception: object) -> None:
        self.end()

    @property
    def logs(self) -> set[Path | None]:
        return {running.log for running in self._waiting.values()}

    def begin(self, trial: int) -> None:
        if trial != self._trial:
            self.end()
        self._trial = trial

    def take(self, subject: Subject) -> Running | None:
        """The driver that waits for such a subject, with its program begun; None without one that lives."""
        running = self._waiting.pop(subject.name, None)
        if running is None:
            return None
        if running.has_ended:
            running.__exit__(None, None, None)
            return None
        running.run_another(subject)
        return running

    def put(self, running: Running) -> bool:
        """End a program and keep its driver; whether that worked. If not, the driver is still the caller's."""
        try:
            running.end_program()
        except SubjectError:
            return False
        self._waiting[running.subject.name] = running
        return True

    def end(self) -> None:
        while self._waiting:
            _, running = self._waiting.popitem()
            running.__exit__(None, None, None)
            if running.log is not None:
                running.log.unlink(missing_ok=True)
