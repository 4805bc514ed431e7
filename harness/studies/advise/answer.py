"""From measurements to an answer: the best backend, the cost of each, and the doubts. Prints nothing."""

import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness import quantity
from harness.stats.intervals import Estimate
from harness.studies.advise.choices import AGAIN, CHOICES, LIMIT, LOOP, POOLED, REACTORS, MeasuredChoices, batched
from harness.studies.advise.profile import WORKLOAD, Profile
from reactorlib.gymnasium.isolation import Isolation
from workloads.catalogue import BACKENDS

# A backend counts as good unless it is shown to take more than this factor of the fastest one's time.
_AS_GOOD = 1.05
_SMALL_SHARE = 0.05
_NOISY = 0.05
# A plain loop whose round is so much longer, or shorter, than its steps by themselves (a log ratio) was disturbed.
_CHANGED = 0.3
# The part of all cores that other processes kept busy meanwhile.
_LOADED = 0.25


@dataclass(frozen=True)
class Cost:
    """A round on a backend. `speed`: how many times as fast as the plain loop. `share`: the part of the round that
    messages, scheduling, waiting and idle cores add to stepping on all cores (see `Answer.ideal_ns`).
    """

    backend: str
    round_ns: float
    speed: Estimate
    share: float


@dataclass(frozen=True)
class Answer:
    """The answer for an environment, a number of them, and a number of cores."""

    env: str
    actors: int
    seed: int
    cores: int
    profile: Profile
    found: MeasuredChoices
    isolation: Isolation | None = None  # None where the check failed

    @cached_property
    def _slower(self) -> dict[str, Estimate]:
        """How many times as long as the plain loop's a round is, of each backend that was measured to the end."""
        ratios = {name: self.found.ratio(name, LOOP) for name in CHOICES}
        return {name: one for name, one in ratios.items() if one is not None}

    @property
    def _lockstep_ns(self) -> float:
        """A round of plain loops' steps on all cores, or of one loop if that is faster. It is measured, because cores
        may share hardware. Where loops in lockstep failed, as if each core were a whole one.
        """
        limit = self.found.ratio(LIMIT, LOOP)
        whole = -(-self.actors // self.cores) / self.actors
        return self.found.loop_ns * (whole if limit is None else min(1.0, limit.value))

    @property
    def ideal_ns(self) -> float:
        """The time that stepping alone takes of a round on all cores: that of loops in lockstep, but at most the
        fastest backend's whole round.
        """
        fastest = min(one.value for one in self._slower.values())
        return min(self._lockstep_ns, self.found.loop_ns * fastest)

    @cached_property
    def costs(self) -> list[Cost]:
        """Of each backend that was measured, the fastest first."""
        made = []
        for name, slower in self._slower.items():
            round_ns = self.found.loop_ns * slower.value
            made.append(Cost(name, round_ns, slower.inverse(), max(0.0, 1 - self.ideal_ns / round_ns)))
        return sorted(made, key=lambda one: one.round_ns)

    @cached_property
    def best(self) -> Cost:
        """The simplest backend that is not shown to be slower than the fastest: the loop, or one that beats it."""
        fastest, *_ = self.costs
        by_name = {one.backend: one for one in self.costs}
        for name in CHOICES:
            behind = self.found.ratio(name, fastest.backend)
            if behind is not None and behind.low <= _AS_GOOD and (name == LOOP or by_name[name].speed.low > 1):
                return by_name[name]
        return fastest

    @property
    def steps_for_small_share(self) -> float | None:
        """From how many steps per message on Ray's pooled actors cost less than 5 % of a round; infinity if never,
        None if not known. A message's cost has a part for each message and a part for each of its steps.
        """
        one = next((cost for cost in self.costs if cost.backend == POOLED), None)
        many = self.found.ratio(batched(self.found.steps), LOOP)
        if one is None:
            return None
        if one.share < _SMALL_SHARE:
            return 1
        if many is None:
            return None
        steps = self.found.steps
        single = one.round_ns - self.ideal_ns
        several = self.found.loop_ns * many.value - steps * self.ideal_ns
        per_step = max(0.0, (several - single) / (steps - 1))
        left = _SMALL_SHARE * self.ideal_ns - (1 - _SMALL_SHARE) * per_step
        return math.ceil((1 - _SMALL_SHARE) * (single - per_step) / left) if left > 0 else math.inf

    @property
    def disturbances(self) -> Iterator[str]:
        """Signs that the machine was disturbed, so that the answer is not reliable."""
        same, outside = self.found.ratio(AGAIN, LOOP), self.found.outside_cores
        if same is not None and abs(math.log(same.value)) > _NOISY:
            yield f"the plain loop beside itself came out {same.value:.2f} times as long"
        if outside > _LOADED * self.cores:
            yield f"other programs kept {outside:.1f} of {self.cores} cores busy meanwhile"
        alone_ns = self.actors * self.profile.mean_ns
        if abs(math.log(self.found.loop_ns / alone_ns)) > _CHANGED:
            took, alone = (quantity.show(value, "ns") for value in (self.found.loop_ns, alone_ns))
            yield f"{self.actors} steps took {took} in the plain loop, and {alone} when the environment was alone"
        fastest, *_ = self.costs
        if fastest.round_ns < (1 - _SMALL_SHARE) * self._lockstep_ns:
            yield f"{label(fastest.backend)} took less than loops that exchange nothing"

    @property
    def doubts(self) -> Iterator[str]:
        digests = self.found.digests
        other = next((one for one in self.costs if one.backend != self.best.backend), None)
        if other is not None:
            behind = self.found.ratio(other.backend, self.best.backend)
            if behind is not None and behind.low <= 1 <= behind.high:
                yield f"{label(other.backend)} may be as fast, or faster: {_times(behind.inverse())} as fast"
        if {LOOP, AGAIN} <= digests.keys() and digests[LOOP] != digests[AGAIN]:
            yield (
                "two plain loops with equal seeds computed different things: the environment is not deterministic, and "
                "a full measurement calls failed what differs from its loop"
            )
        elif others := [label(name) for name, digest in digests.items() if digest != digests.get(LOOP)]:
            yield (
                f"{'; '.join(others)} computed something else than the plain loop: environments of one process "
                "share something, such as a random number generator of their class or module"
            )
        for finding in self.isolation.findings if self.isolation is not None else ():
            yield f"the environment depends on more than its seed and actions, {str(finding).rstrip('.')}"
        if self.isolation is not None and self.isolation.unchecked:
            yield f"the environment was not checked in every way: {', '.join(self.isolation.unchecked)}"
        for name, failure in self.found.failures.items():
            yield f"{label(name)} ({name}) failed: {failure}"

    @property
    def proof(self) -> str:
        """The command that measures it in full."""
        measured = [one.backend for one in self.costs]
        ordered = [name for name in BACKENDS if name in measured]
        words = ["python", "-m", "harness", "run", "--workload", WORKLOAD]
        words += ["--set", f"env={self.env}", "--set", f"actors={self.actors}", "--set", f"seed={self.seed}"]
        words += [word for name in ordered for word in ("--backend", name)]
        return shlex.join([*words, "--trials", "5"])

    def sentences(self) -> Iterator[str]:
        """The answer, most important first."""
        warning, choice, *doubts = self.headline()
        yield from filter(None, (warning, choice, self._shares()))
        if self.profile.waits:
            yield "The environment waits more than it computes: more workers than cores would serve it better."
        yield from doubts

    def headline(self) -> Iterator[str]:
        """A warning, or nothing, then the choice and other doubts."""
        disturbed = "; ".join(self.disturbances)
        yield f"Do not rely on this: {disturbed}. Measure again when the machine is idle." if disturbed else ""
        yield self._choice()
        yield from (f"But {doubt}." for doubt in self.doubts)

    def _choice(self) -> str:
        best = self.best
        if best.backend == LOOP:
            return "Take a plain loop: nothing that was measured is shown to be faster by more than 5 %."
        rays = [one.backend for one in self.costs if one.backend.startswith("ray-")]  # the fastest first
        gain = self.found.ratio(rays[0], best.backend) if rays and best.backend not in rays else None
        beside = "" if gain is None else f", and {_times(gain)} as fast as the best Ray measured ({rays[0]})"
        told = f"Take {label(best.backend)} ({best.backend}): {_times(best.speed)} as fast as a plain loop{beside}."
        fastest, *_ = self.costs
        if fastest is not best:
            told += f" It asks less of a program than {fastest.backend}, which is not shown to be more than 5 % faster."
        return told

    def _shares(self) -> str:
        ray = [f"{_percent(one.share)} ({one.backend})" for one in self.costs if one.backend.startswith("ray-")]
        ours = [f"reactors {_percent(one.share)} ({REACTORS})" for one in self.costs if one.backend == REACTORS]
        told = [*ours, *([f"Ray {' or '.join(ray)}"] if ray else [])]
        return f"Part of a round that is not stepping: {', '.join(told)}{self._until()}." if told else ""

    def _until(self) -> str:
        steps = self.steps_for_small_share
        if steps is None:
            return ""
        if steps == 1:
            return f"; Ray's share ({POOLED}) is little already with one step per message"
        if steps == math.inf:
            return f"; no number of steps per message brings Ray's share ({POOLED}) below 5 %"
        return f"; Ray's share ({POOLED}) is less than 5 % from about {steps:,} steps per message on"

    def as_json(self) -> dict[str, Any]:
        steps = self.steps_for_small_share
        return {
            **{name: getattr(self, name) for name in ("env", "actors", "seed", "cores")},
            "step_ns": {f"p{part}": self.profile.percentile_ns(part) for part in (50, 95, 99)}
            | {"mean": self.profile.mean_ns},
            "message_bytes": self.profile.message_bytes,
            "waits": self.profile.waits,
            "ideal_round_ns": self.ideal_ns,
            "backends": [
                {"backend": one.backend, "round_ns": one.round_ns, "share_not_stepping": one.share}
                | {"speed": {end: getattr(one.speed, end) for end in ("value", "low", "high")}}
                for one in self.costs
            ],
            "starts": len(self.found.blocks),
            "best": self.best.backend,
            "steps_per_message_for_5_percent_on_ray": None if steps == math.inf else steps,
            "sentences": list(self.sentences()),
            "disturbances": list(self.disturbances),
            "doubts": list(self.doubts),
            "proof": self.proof,
            "isolation": None if self.isolation is None else self.isolation.as_json(),
        }


def label(backend: str) -> str:
    """The usual name of a backend."""
    return BACKENDS[backend].summary if backend in BACKENDS else backend


def _times(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}] times"


def _percent(share: float) -> str:
    return "less than 1 %" if share < 0.01 else f"{100 * share:.0f} %"
