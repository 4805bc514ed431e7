"""Waits on a scripted clock: how long a worker spins, when it stops spinning, when it checks."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reactorlib.errors import WorkerError
from reactorlib.transport import spinning, waiting
from reactorlib.transport.spinning import LONGEST_REST_NS, PREEMPTED_NS, REST_NS
from reactorlib.transport.waiting import AWAKE, Bell, Waiter

LOOK_NS = 100


class Scene:
    """A waiter in a world where a look takes LOOK_NS and a sleep as long as it was meant to, unless a ring ends it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000_000_000_000
        self.looks = 0
        self.sleeps: list[int] = []
        self.checks = 0
        self.pulls = 0
        self.arrives_at = 0
        self.gap_at: int | None = None  # after so many looks the processor is taken away for a while
        self.states = memoryview(bytearray(64)).cast("Q")
        self.seen: list[int] = []
        for module in (waiting, spinning):
            monkeypatch.setattr(module, "clock", lambda: self.now)
        self.waiter = Waiter(self, self.states, 0, self._check, self._pull, spin_ns=200_000)  # type: ignore[arg-type]

    def arrived(self) -> bool:
        self.now += LOOK_NS
        self.looks += 1
        if self.looks == self.gap_at:
            self.now += 2 * PREEMPTED_NS
        return self.now >= self.arrives_at

    def sleep(self, milliseconds: int) -> bool:
        """As the bell: rung when the message arrives."""
        self.sleeps.append(milliseconds)
        self.seen.append(self.states[0])
        rung = self.arrives_at <= self.now + milliseconds * 1_000_000
        self.now = self.arrives_at if rung else self.now + milliseconds * 1_000_000
        return rung

    def take(self) -> bool:
        return True

    def _check(self) -> None:
        self.checks += 1

    def _pull(self) -> None:
        self.pulls += 1

    def wait(self, after_ns: int, **options: Any) -> None:
        """Wait for something that arrives so much later; the counters are of this wait."""
        self.looks, self.sleeps, self.checks, self.pulls, self.seen = 0, [], 0, 0, []
        self.arrives_at = self.now + after_ns
        self.waiter.wait(self.arrived, **options)


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(monkeypatch)


def test_what_comes_soon_is_awaited_without_a_sleep(scene: Scene) -> None:
    scene.wait(150_000)
    assert not scene.sleeps
    assert scene.looks > 1000


def test_what_comes_late_is_slept_for_and_the_sleeper_says_so(scene: Scene) -> None:
    scene.wait(1_500_000, state=7)
    assert scene.sleeps == [2]
    assert scene.seen == [7]
    assert scene.states[0] == AWAKE
    assert scene.checks == 0


def test_sleeps_become_longer_up_to_a_limit_with_a_check_after_each(scene: Scene) -> None:
    scene.wait(400_000_000, state=7)
    assert scene.sleeps[:7] == [2, 4, 8, 16, 32, 50, 50]
    assert max(scene.sleeps) == 50
    assert scene.checks == scene.pulls == len(scene.sleeps) - 1
    assert set(scene.seen) == {7}


def test_spinning_in_vain_becomes_short_but_is_tried_in_full_now_and_then(scene: Scene) -> None:
    def looks() -> int:
        scene.wait(1_000_000)
        return scene.looks

    spun = [looks() for _ in range(33)]
    assert spun[0] > 1900
    assert spun[1] < spun[0] * 0.6
    assert max(spun[4:16]) < 200
    assert spun[16] > 1900
    assert spun[32] > 1900
    scene.wait(5_000)
    assert looks() > 1900


def test_a_worker_whose_processor_was_taken_away_does_not_spin_for_a_while(scene: Scene) -> None:
    def is_spinning() -> bool:
        scene.wait(5_000)
        return not scene.sleeps

    def preempt() -> None:
        scene.gap_at = 64
        scene.wait(10 * PREEMPTED_NS)
        scene.gap_at = None

    assert is_spinning()
    rest = REST_NS
    for _ in range(12):
        preempt()
        assert not is_spinning()
        scene.now += rest - 2_000_000
        assert not is_spinning()
        scene.now += 2_000_000
        assert is_spinning()
        rest = min(2 * rest, LONGEST_REST_NS)
    scene.now += 2 * LONGEST_REST_NS
    preempt()
    scene.now += REST_NS
    assert is_spinning()


def test_a_check_that_raises_ends_the_wait_awake(scene: Scene) -> None:
    def died() -> None:
        raise WorkerError("died")

    scene.waiter.check = died
    with pytest.raises(WorkerError, match="died"):
        scene.wait(10**12)
    assert scene.sleeps == [2]
    assert scene.states[0] == AWAKE


def test_a_bell_of_its_own_is_slept_on_without_a_state(scene: Scene) -> None:
    class Own:
        def sleep(self, milliseconds: int) -> bool:
            own.append(milliseconds)
            return scene.sleep(milliseconds)

    own: list[int] = []
    scene.wait(5_000_000, bell=Own())
    assert own == scene.sleeps
    assert set(scene.seen) == {AWAKE}


@pytest.fixture(params=["eventfd", "pipe"])
def make_bell(request: pytest.FixtureRequest) -> Iterator[Callable[[bool], Bell]]:
    bells: list[Bell] = []

    def make(counting: bool) -> Bell:
        bells.append(Bell(counting, waiting._pipe() if request.param == "pipe" else None))
        return bells[-1]

    yield make
    for bell in bells:
        bell.close()


@pytest.mark.parametrize("counting", [False, True])
def test_a_bell_rings_without_blocking_however_often(make_bell: Callable[[bool], Bell], counting: bool) -> None:
    bell = make_bell(counting)
    assert not bell.sleep(0)
    assert not bell.take()
    for _ in range(100_000):
        bell.ring()
    assert bell.sleep(0)
    assert bell.take()
    assert bell.take() == counting


def test_a_counting_bell_keeps_every_ring(make_bell: Callable[[bool], Bell]) -> None:
    bell = make_bell(True)
    for _ in range(100):
        bell.ring()
    assert [bell.take() for _ in range(101)] == [True] * 100 + [False]
