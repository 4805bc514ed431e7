"""Row "physical action". Nothing here sleeps to let something happen: threads are joined, waits are bounded."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    SEC,
    Output,
    PhysicalAction,
    Reactor,
    RunError,
    State,
    Tag,
    Timer,
    physical_elapsed,
    reaction,
    request_stop,
    run,
    shutdown,
    startup,
)
from reactorlib.worker import coordinator
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.observing import reactions, values, written

pytestmark = pytest.mark.usefixtures("path")

LIMIT = 20 * SEC  # no run here lasts longer, whatever goes wrong


class Listener(Reactor):
    """Stops after `expected` events; `source` runs in a thread of its own and schedules them."""

    event = PhysicalAction[object](min_delay="min_delay")
    seen = Output[object]()

    def __init__(self, source: Callable[[PhysicalAction], object], expected: int, min_delay: int = 0):
        self.source, self.left = source, expected

    @reaction(startup, effects=event)
    def begin(self, event):
        self.thread = threading.Thread(target=self.source, args=(event,))
        self.thread.start()

    @reaction(event, effects=seen)
    def arrive(self, event, seen):
        seen.set(event.value)
        self.left -= 1
        if not self.left:
            request_stop()

    @reaction(shutdown)
    def end(self):
        self.thread.join(timeout=10)


def listen(source: Callable[[PhysicalAction], object], expected: int, **options: object):
    return run(Listener, source=source, expected=expected, timeout=LIMIT, trace=True, **options)


@pytest.mark.parametrize("fast", [False, True])
def test_any_thread_schedules_and_the_run_waits_for_it(fast: bool) -> None:
    result = listen(lambda event: event.schedule(value="a"), expected=1, fast=fast)
    [(time_ns, microstep, value)] = written(result, "Listener.seen")
    assert (value, microstep) == ("a", 0)
    assert 0 < time_ns < LIMIT


def test_event_wakes_a_run_that_waits_for_a_later_tag() -> None:
    class FarTimer(Listener):
        far = Timer(offset=60 * SEC)
        late = noted(far)

    begun = time.monotonic_ns()
    result = run(FarTimer, source=lambda event: event.schedule(value="now"), expected=1, timeout=120 * SEC, trace=True)
    assert values(result, "FarTimer.seen") == ["now"]
    assert time.monotonic_ns() - begun < 10 * SEC


def test_tag_is_not_before_physical_time_plus_delays() -> None:
    called: list[int] = []

    def source(event: PhysicalAction) -> None:
        called.append(time.monotonic_ns())
        event.schedule(3 * MSEC, value=None)

    begun = time.monotonic_ns()
    result = listen(source, expected=1, min_delay=2 * MSEC)
    [(time_ns, microstep, _)] = written(result, "Listener.seen")
    assert microstep == 0
    assert time_ns >= 5 * MSEC
    assert time_ns <= called[0] - begun + 5 * MSEC + 1 * SEC
    assert time.monotonic_ns() - begun >= time_ns  # the run waited for that time


def test_scheduling_from_a_reaction_takes_physical_time() -> None:
    class Late(Reactor):
        """Logical time far behind: the event is just after the current tag, or at physical time, never before."""

        event = PhysicalAction[int]()
        seen = Output[tuple]()

        @reaction(startup, effects=event)
        def begin(self, event):
            event.schedule(value=1)
            while physical_elapsed() < 3 * MSEC:
                pass
            event.schedule(value=2)

        @reaction(event, effects=seen)
        def arrive(self, event, seen):
            seen.set(event.value)

    result = run(Late, timeout=LIMIT, keepalive=False, trace=True)
    (first_ns, _, first), (second_ns, _, second) = written(result, "Late.seen")
    assert (first, second) == (1, 2)
    assert 0 <= first_ns < second_ns
    assert second_ns >= 3 * MSEC


def test_event_is_just_after_the_current_tag_where_that_is_later() -> None:
    class Ahead(Reactor):
        tick = Timer(offset=1000 * SEC)
        event = PhysicalAction[int]()
        arrive = noted(event)

        @reaction(tick, effects=event)
        def beat(self, tick, event):
            event.schedule(value=1)

    result = run(Ahead, timeout=2000 * SEC, fast=True, keepalive=False, trace=True)
    assert reactions(result) == [(1000 * SEC, 0, "Ahead.beat"), (1000 * SEC, 1, "Ahead.arrive")]


THREADS, EACH = 8, 1250


def flood(event: PhysicalAction, senders: int = THREADS, each: int = EACH) -> None:
    """Schedule that many events from each of several threads: (sender, number)."""

    def send(sender: int) -> None:
        for number in range(each):
            event.schedule(value=(sender, number))

    threads = [threading.Thread(target=send, args=(sender,)) for sender in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)


@pytest.mark.parametrize("fast", [False, True])
def test_ten_thousand_events_from_eight_threads_arrive_once_each_in_tag_order(fast: bool) -> None:
    result = listen(flood, expected=THREADS * EACH, fast=fast)
    arrived = written(result, "Listener.seen")
    assert len(arrived) == THREADS * EACH
    tags = [step[:2] for step in arrived]
    assert tags == sorted(set(tags))
    by_sender = [[number for _, _, (who, number) in arrived if who == sender] for sender in range(THREADS)]
    assert by_sender == [list(range(EACH))] * THREADS


class Declaring(Reactor):
    event = PhysicalAction()
    begin, arrive, end = noted(startup), noted(event), noted(shutdown)


class Quiet(Reactor):
    begin, end = noted(startup), noted(shutdown)


@pytest.mark.parametrize(
    ("main", "options"),
    [(Declaring, {"fast": False}), (Declaring, {"fast": True}), (Quiet, {"keepalive": True})],
    ids=["paced", "fast", "keepalive"],
)
def test_program_with_a_physical_action_or_keepalive_keeps_running_until_the_timeout(main: Any, options: Any) -> None:
    begun = time.monotonic_ns()
    result = run(main, timeout=30 * MSEC, trace=True, **options)
    assert reactions(result) == [(0, 0, f"{main.__name__}.begin"), (30 * MSEC, 0, f"{main.__name__}.end")]
    assert time.monotonic_ns() - begun >= 30 * MSEC


def test_program_with_a_physical_action_ends_when_told_not_to_keep_alive() -> None:
    result = run(Declaring, timeout=LIMIT, keepalive=False, trace=True)
    assert reactions(result) == [(0, 0, "Declaring.begin"), (0, 1, "Declaring.end")]


@pytest.mark.parametrize(
    ("policy", "spacing", "expected"),
    [("drop", 10 * SEC, [1]), ("replace", 10 * SEC, [2]), ("update", 10 * SEC, [2]), ("defer", 30 * MSEC, [1, 2])],
)
def test_policy_applies_to_physical_actions(policy: Any, spacing: int, expected: list[int]) -> None:
    class Spaced(Reactor):
        event = PhysicalAction[int](min_delay=20 * MSEC, min_spacing=spacing, policy=policy)
        seen = Output[int]()

        @reaction(startup, effects=event)
        def begin(self, event):
            event.schedule(value=1)
            event.schedule(value=2)

        @reaction(event, effects=seen)
        def arrive(self, event, seen):
            seen.set(event.value)

    result = run(Spaced, timeout=LIMIT, keepalive=False, trace=True)
    assert values(result, "Spaced.seen") == expected
    times = [time_ns for time_ns, *_ in written(result, "Spaced.seen")]
    assert times[-1] - times[0] >= spacing * (len(expected) - 1)


def test_signal_handler_schedules_while_the_run_waits() -> None:
    class Signalled(Listener):
        @reaction(startup, effects="event")
        def begin(self, event):
            self.before = signal.signal(signal.SIGUSR1, lambda number, frame: event.schedule(value=number))
            self.thread = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGUSR1))
            self.thread.start()

        @reaction(shutdown)
        def restore(self):
            signal.signal(signal.SIGUSR1, self.before)

    result = run(Signalled, source=print, expected=1, timeout=LIMIT, trace=True)
    assert values(result, "Signalled.seen") == [int(signal.SIGUSR1)]


def test_scheduling_after_the_end_is_refused() -> None:
    kept: list[PhysicalAction] = []

    def source(event: PhysicalAction) -> None:
        kept.append(event)
        event.schedule(value=1)

    result = listen(source, expected=1)
    with pytest.raises(RunError, match=r"Listener\.event\.schedule\(\): .*ended"):
        kept[0].schedule(value=2)
    assert values(result, "Listener.seen") == [1]


class Scripted:
    """A clock that only the program moves; waiting moves it as well."""

    time = 0

    def now(self) -> int:
        return self.time

    def wait(self, until: int) -> None:
        self.time = max(self.time, until)

    def wake(self) -> None: ...
    def close(self) -> None: ...


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("delay", [0, 1 * MSEC])
@pytest.mark.parametrize("cost", [1 * MSEC, 10 * MSEC, 100 * MSEC])
def test_physical_actions_from_before_the_timeout_run_however_late_it_is(fast, delay, cost, monkeypatch) -> None:
    clock = Scripted()
    monkeypatch.setattr(coordinator, "PhysicalClock", lambda: clock)

    class Flooded(Reactor):
        """A hundred events come a nanosecond apart, and each takes `cost` to handle; a timer is due all the while."""

        event = PhysicalAction[int](min_delay=delay)
        tick = Timer(offset=0, period=10 * MSEC)
        beat, end = noted(tick), noted(shutdown)
        handled = State(0)

        @reaction(startup, effects=event)
        def begin(self, event):
            for number in range(100):
                event.schedule(value=number)
                clock.time += 1

        @reaction(event)
        def arrive(self, event):
            assert event.value == self.handled
            self.handled += 1
            clock.time += cost

    result = run(Flooded, timeout=100 * MSEC, fast=fast, trace=True)
    assert result.tag == Tag(100 * MSEC, 0)
    ran = Counter(path.partition(".")[2] for *_, path in reactions(result))
    assert (ran["beat"], ran["arrive"], ran["end"]) == (11, 100, 1)
