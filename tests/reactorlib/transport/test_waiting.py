"""Waits on a scripted clock: how long a worker spins, when it stops spinning, when it checks."""

from pathlib import Path
from threading import get_native_id

import pytest

from reactorlib.errors import WorkerError
from reactorlib.transport import waiting
from reactorlib.transport.waiting import AWAKE, LONGEST_REST_NS, REST_NS, SURE_NS, Bell, Waiter

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
        self.kept: int | None = 0  # ns for which the kernel says that there was no processor for it
        self.states = memoryview(bytearray(64)).cast("Q")
        self.seen: list[int] = []
        monkeypatch.setattr(waiting, "clock", lambda: self.now)
        monkeypatch.setattr(waiting, "_kept_ns", lambda: self.kept)
        self.waiter = Waiter(self, self.states, 0, self._check, self._pull, spin_ns=5 * SURE_NS)  # type: ignore[arg-type]

    def arrived(self) -> bool:
        self.now += LOOK_NS
        self.looks += 1
        return self.now >= self.arrives_at

    def sleep(self, milliseconds: int) -> bool:
        """As the bell: rung when the message arrives."""
        self.sleeps.append(milliseconds)
        self.seen.append(self.states[0])
        rung = self.arrives_at <= self.now + milliseconds * 1_000_000
        self.now = self.arrives_at if rung else self.now + milliseconds * 1_000_000
        return rung

    def _check(self) -> None:
        self.checks += 1

    def _pull(self) -> None:
        self.pulls += 1

    def wait(self, after_ns: int, state: int = 7) -> None:
        """Wait for something that arrives so much later; the counters are of this wait."""
        self.looks, self.sleeps, self.checks, self.pulls, self.seen = 0, [], 0, 0, []
        self.arrives_at = self.now + after_ns
        self.waiter.wait(self.arrived, state)


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(monkeypatch)


def test_what_comes_soon_is_awaited_without_a_sleep(scene: Scene) -> None:
    scene.wait(150_000)
    assert not scene.sleeps
    assert scene.looks > 1000
    scene.wait(4 * SURE_NS)
    assert not scene.sleeps


def test_what_comes_late_is_slept_for_and_the_sleeper_says_so(scene: Scene) -> None:
    scene.wait(2_000_000)
    assert scene.sleeps == [2]
    assert scene.seen == [7]
    assert scene.states[0] == AWAKE
    assert scene.checks == 0


def test_sleeps_become_longer_up_to_a_limit_with_a_check_after_each(scene: Scene) -> None:
    scene.wait(400_000_000)
    assert scene.sleeps[:7] == [2, 4, 8, 16, 32, 50, 50]
    assert max(scene.sleeps) == 50
    assert scene.checks == scene.pulls == len(scene.sleeps) - 1
    assert set(scene.seen) == {7}


def test_spinning_in_vain_becomes_short_but_is_tried_in_full_now_and_then(scene: Scene) -> None:
    def looks(after_ns: int = 20 * SURE_NS) -> int:
        scene.wait(after_ns)
        return scene.looks

    full, sure = 5 * SURE_NS // LOOK_NS, SURE_NS // LOOK_NS
    spun = [looks() for _ in range(33)]
    assert spun[0] >= full
    assert spun[1] < spun[0] * 0.6
    assert max(spun[4:16]) < sure * 1.1
    assert spun[16] >= full
    assert spun[32] >= full
    looks(5_000)
    assert looks() < sure * 1.1  # short waits say nothing about long ones
    for _ in range(14):
        looks()
    assert looks(2 * SURE_NS) < full
    assert not scene.sleeps
    assert looks() >= full


def _is_spinning(scene: Scene) -> bool:
    scene.wait(5_000)
    return not scene.sleeps


def test_a_worker_whose_processor_others_want_does_not_spin_for_a_while(scene: Scene) -> None:
    def compete() -> None:
        assert scene.kept is not None
        scene.kept += 10 * LONGEST_REST_NS
        scene.wait(10 * SURE_NS)

    scene.wait(10 * SURE_NS)
    assert _is_spinning(scene)
    rest = REST_NS
    for _ in range(12):
        compete()
        assert scene.looks < 1.1 * SURE_NS // LOOK_NS
        assert not _is_spinning(scene)
        scene.now += rest - 3_000_000
        assert not _is_spinning(scene)
        scene.now += 3_000_000
        assert _is_spinning(scene)
        rest = min(2 * rest, LONGEST_REST_NS)
    scene.now += 2 * LONGEST_REST_NS
    compete()
    scene.now += REST_NS
    assert _is_spinning(scene)


def test_a_little_competition_does_not_keep_it_from_spinning(scene: Scene) -> None:
    for _ in range(5):
        assert scene.kept is not None
        scene.kept += SURE_NS // 20
        scene.wait(4 * SURE_NS)
        assert not scene.sleeps


def test_where_nobody_counts_who_wants_the_processor_it_spins_for_a_short_time_only(scene: Scene) -> None:
    scene.kept = None
    scene.wait(SURE_NS // 2)
    assert not scene.sleeps
    scene.wait(2 * SURE_NS)
    assert scene.sleeps == [2]
    assert scene.looks < 1.1 * SURE_NS // LOOK_NS
    assert _is_spinning(scene)  # also right after


def test_a_count_that_is_none_is_known_as_such(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "schedstat"
    monkeypatch.setattr(waiting, "_SCHEDSTAT", str(file))
    assert waiting._kept_ns() is None
    for text, kept in (("12 34 5", 34), ("0 0 0", None), ("", None), ("a b c", None)):
        file.write_text(text)
        assert waiting._kept_ns() == kept


def test_a_worker_that_is_not_to_spin_does_not_even_look(scene: Scene) -> None:
    waiting.Spinner(0).spin(scene.arrived, scene.now)
    assert scene.looks == 0


def test_this_thread_is_asked_how_long_it_was_kept_from_running() -> None:
    first, second = waiting._kept_ns(), waiting._kept_ns()
    if first is None or second is None:
        pytest.skip("this system keeps no such count")
    assert 0 <= first <= second


def test_a_check_that_raises_ends_the_wait_awake(scene: Scene) -> None:
    def died() -> None:
        raise WorkerError("died")

    scene.waiter.check = died
    with pytest.raises(WorkerError, match="died"):
        scene.wait(10**12)
    assert scene.sleeps == [2]
    assert scene.states[0] == AWAKE


def test_a_bell_rings_without_blocking_however_often() -> None:
    bell = Bell()
    try:
        assert not bell.sleep(0)
        for _ in range(100_000):
            bell.ring()
        assert bell.sleep(0)
        assert not bell.sleep(0)
    finally:
        bell.close()


def test_each_waiter_knows_the_threads_of_the_others() -> None:
    states, bell = memoryview(bytearray(8 * 8 * 3)).cast("Q"), Bell()
    try:
        first, _ = (Waiter(bell, states, worker, lambda: None) for worker in (0, 2))
        assert first._fellows() == [0, get_native_id()]  # nobody waits for worker 1 yet
    finally:
        bell.close()
