"""A workload's reports while it runs: setup done, a round done, the values it computed.

Owns the time stamps and the digests of one run. Prints nothing; a timed round costs one stamp.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from workloads.digest import Digest, NoDigest
from workloads.garbage import freeze


class ProbeError(RuntimeError):
    """A backend that did not report what it had to: the run gives no result."""


@dataclass(frozen=True)
class Outcome:
    """The result of one run.

    `digest`: of everything computed, "" where the run was timed, not verified. `state_digest`: of the final
    state, always. `rounds`: measured rounds. `elapsed_ns`: their sum. `round_ns`: int64 array (rounds,).
    `startup_ns`: from the probe's creation to `ready`, plus what was charged.
    """

    digest: str
    state_digest: str
    rounds: int
    elapsed_ns: int
    round_ns: npt.NDArray[np.int64] = field(compare=False, repr=False)
    startup_ns: int


class Probe:
    """Counts and times the rounds of one run: `warmup_rounds` that do not count, then `task_rounds` that do.

    With `verify` the values given to `digest` are hashed; without, they are ignored and `verifying` is False,
    so that a backend can skip preparing them. `clock` returns nanoseconds.
    """

    def __init__(
        self,
        task_rounds: int,
        warmup_rounds: int,
        verify: bool,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self._arguments = task_rounds, warmup_rounds, verify
        self.verifying = verify
        self.digest: Digest | NoDigest = Digest() if verify else NoDigest()
        self._state = Digest()
        self._rounds = task_rounds
        self._warmup_rounds = warmup_rounds
        self._clock = clock
        self._ready_ns: int | None = None
        self._stamps: list[int] = []
        self._charged_startup_ns = 0
        self._created_ns = clock()

    def __reduce__(self) -> tuple[type["Probe"], tuple[int, int, bool]]:
        return Probe, self._arguments  # in another process nothing is reported to it: the hub stays where it was made

    def ready(self) -> None:
        """Setup is done and the first round is about to begin; raises ProbeError the second time.

        Objects that exist by then are exempt from later garbage collections. That does not count as start-up.
        """
        if self._ready_ns is not None:
            raise ProbeError("ready() was reported twice")
        done_ns = self._clock()
        freeze()
        self._ready_ns = self._clock()
        self.charge_startup(done_ns - self._ready_ns)

    def round(self) -> None:
        """A round is done."""
        self._stamps.append(self._clock())

    def state(self, *values: object) -> None:
        """Add to the final state, which is hashed in timed runs too: call it after the last round only."""
        self._state.add(0, *values)

    def charge_startup(self, duration_ns: int) -> None:
        """Add to the start-up time, or with a negative duration take from it.

        Added is setup that this run uses and an earlier run of this process paid for; taken out is what only the
        measuring needs.
        """
        self._charged_startup_ns += duration_ns

    @property
    def startup_ns(self) -> int:
        """From the probe's creation to `ready`, plus what was charged; raises ProbeError before that."""
        if self._ready_ns is None:
            raise ProbeError("ready() was never reported")
        return self._ready_ns - self._created_ns + self._charged_startup_ns

    def outcome(self) -> Outcome:
        """The result of the finished run; raises ProbeError unless ready() and all rounds were reported."""
        expected = self._warmup_rounds + self._rounds
        startup_ns = self.startup_ns
        if len(self._stamps) != expected:
            raise ProbeError(f"expected {expected} rounds (warm-up included), got {len(self._stamps)}")
        stamps = np.array([self._ready_ns, *self._stamps], dtype=np.int64)[self._warmup_rounds :]
        state_digest = self._state.hexdigest()
        everything = Digest()
        everything.add(0, self.digest.hexdigest(), state_digest)
        return Outcome(
            digest=everything.hexdigest() if self.verifying else "",
            state_digest=state_digest,
            rounds=self._rounds,
            elapsed_ns=int(stamps[-1] - stamps[0]),
            round_ns=np.diff(stamps),
            startup_ns=startup_ns,
        )
