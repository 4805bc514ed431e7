"""The contract of every actor system: what `workloads.actors.system` promises to the drivers of workloads.

`CONTRACT=path/to/file.py:System pytest` of this file tests a system from outside.
"""

import os
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.pages import ROOT
from tests.workloads.actors.echo import Echo, EchoError
from workloads import outside, ray_session
from workloads.actors.system import SYSTEMS, ActorDiedError, load
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.ray_styles import THREAD_LIMITS

LARGE_BYTES = 20_000_000
# Ray stays open for the next run, until the process of the driver ends. Dask's workers are spawned by multiprocessing,
# whose resource tracker stays as long.
STAY_OPEN = {"ray-pooled", "ray-pooled-compiled", "ray-queue", "dask"}
# A graph has only one message in flight, and a large one that the driver holds keeps the next one waiting.
ONE_LARGE_IN_FLIGHT = {"ray-pooled-compiled"}


# Compiled graphs come first: Ray reads their time limits once per process, when its first session opens.
NAMES = sorted(SYSTEMS, key=lambda name: name != "ray-pooled-compiled")
if "CONTRACT" in os.environ:
    NAMES = [outside.entered(os.environ["CONTRACT"])]


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    yield request.param
    ray_session.stop()


def skip(error):
    """Skip a system whose package is absent. One from outside was asked for, and fails."""
    if "CONTRACT" in os.environ:
        raise error
    pytest.skip(str(error))


@contextmanager
def opened(name):
    """A system, or a skipped test where its package is absent."""
    try:
        system = load(name)(Probe(1, 0, False))
    except UnsupportedError as error:
        skip(error)
    with system:
        yield system


def start(system):
    """Start two actors, and wait until they are ready."""
    system.start(Echo, [(0,), (1,)])
    system.await_actors(lambda: LARGE_BYTES)
    return system


@pytest.fixture(scope="module")
def system(name):
    """Two actors, for all tests that end none."""
    with opened(name) as system:
        yield start(system)


def test_replies_come_in_the_actors_order_after_the_driver_had_time_of_its_own(system, tmp_path):
    receive = system.send("wait_for", str(tmp_path / "now"))
    (tmp_path / "now").touch()
    assert receive() == [0, 1]
    assert system.send("tell", "word")() == [(0, "word"), (1, "word")]


def test_what_a_method_raises_is_raised_by_the_replies_and_the_actors_live_on(system):
    with pytest.raises(EchoError, match="actor 1 can't") as raised:
        system.send("fail", 1)()
    assert "echo.py" in f"{raised.value} {raised.value.__cause__}"  # the line that raised it
    assert system.send("tell", 1)() == [(0, 1), (1, 1)]
    failed, told = system.send("fail", 0), system.send("tell", 2)
    assert told() == [(0, 2), (1, 2)]
    with pytest.raises(EchoError, match="actor 0 can't"):
        failed()


def test_what_a_constructor_raises_is_raised_before_any_call(name):
    with opened(name) as system:
        system.start(Echo, [(0,), (1, True)])
        with pytest.raises(Exception, match="not to be made"):
            system.await_actors(lambda: 64)


def test_an_actor_that_dies_is_noticed_at_once(name):
    with opened(name) as system:
        start(system)
        began = time.monotonic()
        with pytest.raises(ActorDiedError):
            system.send("die", 1)()
        assert time.monotonic() - began < 30


def test_large_values_keep_their_bits_both_ways(system):
    value = np.random.default_rng(1).random(LARGE_BYTES // 8)
    for _ in range(3):
        assert [np.array_equal(reply, 2 * value) for reply in system.send("doubled", value)()] == [True, True]
        value += 1
    assert system.send("tell", 1)() == [(0, 1), (1, 1)]


def test_large_calls_and_replies_in_flight_at_a_time_do_not_wait_for_each_other(system, name):
    if name in ONE_LARGE_IN_FLIGHT:
        pytest.skip("a large reply occupies the only buffer")
    calls = [system.send("doubled", np.full(LARGE_BYTES // 80, float(number))) for number in range(10)]
    found = [[reply[[0, -1]].tolist() for reply in receive()] for receive in reversed(calls)]
    assert found == [[[2.0 * number] * 2] * 2 for number in reversed(range(10))]


def test_calls_whose_replies_nobody_asks_for_are_done_in_order(system):
    expected = Echo()
    system.send("begin")
    for number in range(999):
        system.send("add", number)
        expected.add(number)
    assert system.send("add", 999)() == [expected.add(999)] * 2


def test_one_actor_can_be_called_or_the_system_says_that_it_can_not(system):
    system.send("begin")()
    try:
        first = system.send_to(1, "add", 5)
    except UnsupportedError:
        return
    second, other = system.send_to(1, "add", 6), system.send_to(0, "add", 7)
    assert (other(), second(), first()) == ([7], [21], [5])
    assert system.send("add", 0)() == [21, 63]


def values():
    """Values of all kinds that the workloads send, by name."""
    array = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    yield "nothing", None
    yield "words", ["", "ä" * 50_000]
    yield "bytes", b"\x80\x05not a pickle"
    yield "nested", {"a": {"b": [(1, 2.5), {"c": None}]}, 3: True}
    yield "numbers", (np.float32(0.1), np.int64(-1), np.bool_(True), 10**30)
    yield "an array", array
    yield "no items", np.empty((0, 3))
    yield "another order", np.arange(3_000_000, dtype=np.uint8).reshape(1000, 1000, 3).transpose(2, 0, 1)
    yield "many arrays", [np.full(20_000, number, np.int16) for number in range(300)]


def is_same(found, value):
    """Whether two values have the same types, and the same bits in the same order."""
    if type(found) is not type(value):
        return False
    if isinstance(value, np.ndarray):
        layouts = [(array.dtype, array.shape, array.size and array.strides) for array in (found, value)]
        return layouts[0] == layouts[1] and np.array_equal(found, value)
    if isinstance(value, list | tuple):
        return len(found) == len(value) and all(map(is_same, found, value))
    return bool(found == value)


@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in values()])
def test_a_value_keeps_its_type_and_bits(value, system):
    assert [is_same(found, value) for found in system.send("echo", value)()] == [True, True]
    assert [is_same(found, (value, 1)) for found in system.send("echo", value, 1)()] == [True, True]


@pytest.mark.parametrize("items", [3, 1_000_000])
def test_a_tensor_keeps_its_bits(items, system):
    torch = pytest.importorskip("torch")
    value = torch.arange(items, dtype=torch.float32)
    assert [torch.equal(found, value) for found in system.send("echo", value)()] == [True, True]


SCRIPT = """
import os, sys, psutil
import numpy as np
from workloads.shared_memory import Names

names = Names()
from tests.workloads.actors.echo import Echo
from workloads import outside
from workloads.actors.system import load
from workloads.probe import Probe

with load(outside.entered(sys.argv[1]))(Probe(1, 0, False)) as system:
    system.start(Echo, [(0,), (1,)])
    system.await_actors(lambda: 1_000_000)
    system.send("doubled", np.ones(100_000))()
    names.look([os.getpid(), *(child.pid for child in psutil.Process().children(recursive=True))])
print([child.name() for child in psutil.Process().children(recursive=True)])
print(*names._own.values(), f"/tmp/ray-bench-{os.getpid()}")
"""


def test_nothing_is_left(name, tmp_path):
    try:
        load(name)
    except UnsupportedError as error:
        skip(error)
    mark = uuid.uuid4().hex
    environment = os.environ | THREAD_LIMITS | {"TMPDIR": str(tmp_path), "MARK": mark, "PYTHONPATH": str(ROOT)}
    script = [sys.executable, "-c", SCRIPT, os.environ.get("CONTRACT", name)]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    processes, files = done.stdout.splitlines()
    assert name in STAY_OPEN or processes == "[]"
    assert marked(mark) == []
    assert not any(Path(file).exists() for file in files.split())  # in shared memory, and Ray's in /tmp
    assert list(tmp_path.iterdir()) == []


def marked(mark):
    """The processes that were started with a mark in the environment, and do not end within some seconds."""
    give_up = time.monotonic() + 10
    while True:
        found = [process.name() for process in psutil.process_iter() if has_mark(process, mark)]
        if not found or time.monotonic() > give_up:
            return found
        time.sleep(0.1)


def has_mark(process, mark):
    try:
        return process.environ().get("MARK") == mark and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
