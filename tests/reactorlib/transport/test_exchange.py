"""The memory that workers share reaches forked and spawned processes, and leaves nothing behind."""

import gc
import mmap
import multiprocessing
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reactorlib.cpus import gil_enabled
from reactorlib.errors import WorkerError
from reactorlib.transport.exchange import Endpoint, Exchange
from reactorlib.transport.memory import PAGE, Memory, default_capacity, fence, keeps_store_order
from tests.reactorlib.scripts import printed, python
from tests.reactorlib.transport.conftest import MakeExchange
from tests.reactorlib.transport.peer import Peer, endpoint

LIMIT_S = 60


def serve(exchange: Exchange, me: int) -> None:
    """Top level, so that a spawned process finds it."""
    _serve(endpoint(exchange, me))


def _serve(end: Endpoint) -> None:
    encode = end.codec.encoder([0])
    while (value := end.codec.decode(end.receiver_from(0)())) is not None:
        end.sender_to(0)(encode(value * 2))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_every_start_method_reaches_the_exchange(make_exchange: MakeExchange, method: str, fenced: bool) -> None:
    exchange = make_exchange(fenced=fenced)
    process = multiprocessing.get_context(method).Process(target=serve, args=(exchange, 1))  # type: ignore[attr-defined]
    process.start()

    def check() -> None:
        if process.exitcode is not None:
            raise WorkerError(f"exited with {process.exitcode}")

    end = endpoint(exchange, 0, check)
    encode = end.codec.encoder([1])
    for _ in range(10):
        for value in (1, "ab", np.arange(10_000), (1.5, np.arange(3))):
            end.sender_to(1)(encode(value))
            received = end.codec.decode(end.receiver_from(1)())
            assert np.array_equal(received, value * 2) if isinstance(value, np.ndarray) else len(str(received))
    end.sender_to(1)(encode(None))
    process.join(LIMIT_S)
    assert process.exitcode == 0
    process.close()


def test_nothing_is_left_in_the_file_system(make_exchange: MakeExchange) -> None:
    before = _files()
    exchange = make_exchange()
    with Peer(exchange, 1, _serve):
        end = endpoint(exchange, 0)
        end.sender_to(1)(end.codec.encode(np.zeros(1 << 20), [1]))
        assert end.codec.decode(end.receiver_from(1)())[0] == 0
        assert _files() == before
        end.sender_to(1)(end.codec.encode(None, [1]))


def _files() -> set[str]:
    return {str(path) for place in ("/dev/shm", "/tmp") for path in Path(place).glob("*reactorlib*")}


def _descriptors() -> int:
    gc.collect()  # a mapping holds a descriptor of its own until its last view is gone
    return len([*Path("/proc/self/fd").iterdir()])


def test_closing_gives_back_every_descriptor() -> None:
    before = _descriptors()
    exchange = Exchange(3, capacity=1 << 20)
    endpoint(exchange, 0)
    exchange.close()
    del exchange
    assert _descriptors() == before


@pytest.mark.skipif(not gil_enabled(), reason="free-threaded 3.13 never frees functions once a thread was started")
def test_memory_is_given_back_once_nobody_refers_to_it() -> None:
    def mapped() -> int:
        gc.collect()
        return Path("/proc/self/maps").read_text().count("reactorlib")

    before = mapped()
    exchange = Exchange(2, capacity=1 << 24)
    one, other = endpoint(exchange, 0), endpoint(exchange, 1)
    array = other.codec.decode(one.codec.encode(np.arange(10_000), [1]))
    exchange.close()
    del exchange, one, other
    assert mapped() > before
    assert array[-1] == 9999
    del array
    assert mapped() == before


def test_views_may_be_dropped_at_interpreter_exit() -> None:
    code = (
        "import numpy as np\n"
        "from reactorlib.transport.exchange import Endpoint, Exchange\n"
        "x = Exchange(2, capacity=1 << 24); a, b = Endpoint(x, 0, bool), Endpoint(x, 1, bool)\n"
        "kept = b.codec.decode(a.codec.encode((np.zeros(10000), {None: np.zeros(10000)}), [1]))\n"
        "own = np.frombuffer(a.arena.allocate(10000), 'u1')\n"
        "class Late:\n"
        "    def __init__(self): self.kept = kept, own\n"
        "import builtins; builtins.late = Late(); late.me = late\n"
    )
    done = python("-c", code)
    assert (done.returncode, done.stderr) == (0, "")


def test_attached_memory_is_the_same_memory() -> None:
    memory = Memory(PAGE)
    other = Memory(memory.size, SimpleNamespace(detach=lambda: os.dup(memory.fd)))
    memory.map[7] = 3
    assert other.map[7] == 3
    assert other.address != memory.address


def test_defunded_pages_are_empty_again() -> None:
    memory = Memory(4 * PAGE)
    memory.fund(0, 4 * PAGE)
    memory.map[PAGE] = 1
    if memory.defund(PAGE, PAGE):
        assert memory.map[PAGE] == 0


LIMITED = """
import resource
from pathlib import Path
from reactorlib.transport.exchange import Endpoint, Exchange

def leave(nbytes):
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + nbytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
"""


@pytest.mark.parametrize(
    "limit", ["leave(3 << 30)", "leave(1 << 28)", "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 24, 1 << 24))"]
)
def test_limits_below_the_capacity_are_kept_to(limit: str) -> None:
    code = f"""
import resource
{limit}
capacity = 1 << 29 if "{limit}" == "leave(3 << 30)" else 1 << 32
x = Exchange(3, capacity=capacity); ends = [Endpoint(x, worker, bool) for worker in range(3)]
value = b'x' * 500000
for worker in (1, 2):
    for _ in range(50):
        assert ends[worker].codec.decode(ends[0].codec.encode(value, [worker])) == value
print(x.memory.size <= 1 << (27 if capacity == 1 << 32 else 40))
"""
    assert printed("-c", LIMITED + code) == "True\n"


@pytest.mark.parametrize("gib", [1, 64, 512, 4096])
def test_hundreds_of_runs_have_addresses_at_a_time(gib: int) -> None:
    code = f"""
capacity = ({gib} << 30) * 7 // 10
exchanges = [Exchange(2, capacity=capacity) for _ in range(256)]
print(exchanges[0].region >= capacity, min(x.region for x in exchanges) >= min(8 * capacity, 1 << 30))
print(len(Endpoint(exchanges[-1], 1, bool).allocate(2_400_000)))
"""
    assert printed("-c", LIMITED + code) == "True True\n2400000\n"


def test_a_system_with_fewer_addresses_gives_a_run_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, size: int, **options: Any) -> Any:
        if size > 1 << 36:  # of 39 bits, most are in use
            raise OSError(12, "Cannot allocate memory")
        return real(fd, size, **options)

    real = mmap.mmap
    monkeypatch.setattr("mmap.mmap", refuse)
    exchange = Exchange(2, capacity=1 << 40)
    assert 1 << 33 < exchange.region < 1 << 36
    exchange.close()


def test_a_limit_below_the_least_is_an_error() -> None:
    code = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
try: Exchange(2, capacity=1 << 32)
except OSError as error: print(error.strerror)
"""
    assert printed("-c", LIMITED + code) == "File too large\n"


def test_the_capacity_is_a_part_of_the_memory_of_the_machine() -> None:
    assert 1 << 20 < default_capacity() < os.sysconf("SC_PHYS_PAGES") * PAGE


@pytest.mark.parametrize(("machine", "kept"), [("x86_64", True), ("aarch64", False), ("riscv64", False)])
def test_store_order_is_trusted_only_where_it_is_kept(
    monkeypatch: pytest.MonkeyPatch, machine: str, kept: bool
) -> None:
    monkeypatch.setattr("os.uname", lambda: SimpleNamespace(machine=machine))
    assert keeps_store_order() == kept
    exchange = Exchange(2, capacity=1 << 20)
    assert exchange.fenced != kept
    exchange.close()
    fence()


def test_nobody_spins_where_there_are_more_workers_than_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 1})
    for workers, spins in ((2, True), (3, False)):
        exchange = Exchange(workers, capacity=1 << 20)
        assert (exchange.spin_ns > 0) == spins
        exchange.close()
