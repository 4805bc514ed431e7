"""The result of the check: what an environment shares or depends on, and which vector environments that spoils."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from reactorlib.gymnasium.isolation.generators import GENERATORS

STATE, HASH, FILES, THREADS, RESET, OTHER = "class or module state", "hash order", "files", "threads", "reset", "other"
# Each culprit with its meaning, and the remedy in the environment.
CULPRITS = {
    "random": ("it draws from the generator of the module `random`", "draw from self.np_random"),
    "numpy.random": ("it draws from NumPy's global generator", "draw from self.np_random"),
    "torch": ("it draws from torch's global generator",
              "keep a torch.Generator, seed it in reset, and pass it as generator="),
    STATE: ("environments of one process change what it reads", "keep that in self, and set it in reset"),
    "time": ("it reads the clock", "count steps instead"),
    "process id": ("it uses the id of its process", "use the seed that reset gets"),
    HASH: ("it follows the order of a set or of hash(), which differs between processes", "sort before iterating"),
    "entropy": ("it has a generator without a seed", "draw from self.np_random, or seed the generator in reset"),
    FILES: ("it reads files that an earlier or another one has written", "give each environment a folder of its own"),
    THREADS: ("it does otherwise in a thread", "step it in processes"),
    RESET: ("reset(seed=...) does not begin anew: something of the last episode is kept", "set all of self in reset"),
    OTHER: ("two processes with equal seeds differ, for a reason outside of what the check controls",
            "look for datetime.now(), random.Random(), generators in C, id() and addresses, files, and other programs"),
}  # fmt: skip
_SHOWN = 12  # files
_OWN_PROCESS = (*GENERATORS, STATE, THREADS)  # a process of its own suffices


@dataclass(frozen=True)
class Finding:
    """A `culprit`, one of CULPRITS. `call` is the first call that differs, 0 being reset, and `part` what of it.

    `places` are the lines or the attributes that the culprit was found at, as far as they were.
    """

    culprit: str
    call: int
    part: str
    places: tuple[str, ...] = ()

    def __str__(self) -> str:
        what, remedy = CULPRITS[self.culprit]
        at = f" at {', '.join(self.places)}" if self.places else ""
        seen = f"First seen in the {self.part} of {call_named(self.call)}."
        return f"{self.culprit}: {what}{at}. {seen} Remedy: {remedy}."


def call_named(call: int) -> str:
    """The name of a call, 0 being reset."""
    return "reset" if call == 0 else f"step {call}"


@dataclass(frozen=True)
class Isolation:
    """The result of `check_isolation`.

    `findings` change observations, rewards or ends; `in_infos` change infos alone, which is no fault. `touched` are
    global generators that it changes, used or not: training code draws from the same. `unchecked` are plays that did
    not end, each with the reason. `calls` were compared, a reset and steps, in `seconds`. `files` are those that the
    plays changed, and that the check leaves so.
    """

    environment: str
    findings: tuple[Finding, ...]
    in_infos: tuple[Finding, ...]
    touched: tuple[str, ...]
    unchecked: tuple[str, ...]
    calls: int
    seconds: float
    files: tuple[str, ...] = ()

    @property
    def is_isolated(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def culprits(self) -> tuple[str, ...]:
        """The names of the findings."""
        return tuple(finding.culprit for finding in self.findings)

    def _only(self, *allowed: str) -> bool:
        return set(self.culprits) <= {*allowed, RESET}

    @property
    def one_process(self) -> bool:
        """Whether several in a process do what each does alone: in SyncVectorEnv, and several on a worker."""
        return self._only(THREADS)

    @property
    def threads(self) -> bool:
        """Whether several in threads of a process do what each does alone."""
        return self._only()

    @property
    def own_process(self) -> bool:
        """Whether one in a process of its own, with seeded generators, does the same on every run."""
        return self._only(*_OWN_PROCESS)

    @property
    def remedy(self) -> str | None:
        """The isolation that suffices: "none", "generators" of its own, its own "processes", or None."""
        if self.one_process:
            return "none"
        if self._only(THREADS, *GENERATORS):
            return "generators"
        return "processes" if self.own_process else None

    @property
    def with_fixed_hashes(self) -> Isolation:
        """The report where PYTHONHASHSEED is set before Python starts: without hash order."""
        return replace(self, findings=tuple(finding for finding in self.findings if finding.culprit != HASH))

    def as_json(self) -> dict[str, Any]:
        """All of it, for programs."""
        derived = ("is_isolated", "one_process", "threads", "own_process", "remedy")
        return {**asdict(self), **{name: getattr(self, name) for name in derived}}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        checked = f"{self.calls} calls in each play, {self.seconds:.1f} s"
        if self.is_isolated:
            yield f"{self.environment}: depends on its seed and actions alone ({checked})"
        else:
            yield f"{self.environment}: depends on more than its seed and actions ({checked})"
            yield from (f"  {finding}" for finding in self.findings)
        yield f"  SyncVectorEnv, several on one worker: {_word(self.one_process)}"
        yield f"  threads: {_word(self.threads)}"
        yield f"  a process for each environment: {_word(self.own_process)}"
        if interim := self._interim():
            yield f"  until it is mended: {', and '.join(interim)}"
        yield from (f"  in infos alone, no fault: {finding}" for finding in self.in_infos)
        if self.touched:
            yield f"  it changes the generators that training code draws from: {', '.join(self.touched)}"
        if self.files:
            more = f" and {len(self.files) - _SHOWN} more" if len(self.files) > _SHOWN else ""
            yield f"  its plays changed these files: {', '.join(self.files[:_SHOWN])}{more}"
        if self.unchecked:
            yield f"  not checked: {', '.join(self.unchecked)}"

    def _interim(self) -> list[str]:
        """The steps that help until it is mended."""
        remedy = self.with_fixed_hashes.remedy
        interim = ["PYTHONHASHSEED=0 before Python starts"] if HASH in self.culprits and remedy is not None else []
        if remedy == "generators":
            interim.append("ReactorVectorEnv(..., isolate='generators')")
        if remedy == "processes":
            interim.append("ReactorVectorEnv(..., isolate='processes', start_method='spawn')")
            interim.append("a new one for each run, since reset leaves that state")
        return interim


def _word(same: bool) -> str:
    return "as alone" if same else "not as alone"
