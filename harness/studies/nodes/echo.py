"""One engine's exchange of a message between two nodes, there and back.

`python -m harness.studies.nodes.echo ENGINE [...]` runs it.

Each prints a line of JSON, {bytes: [microseconds of each round]}. A message is an array of bytes; `reactors` and `ray`
take it as their users would, `tcp` and `mpi` into memory that is there.
"""

import json
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

SIZES = {8: 400, 1024: 400, 100 * 1024: 100, 10 * 1024 * 1024: 8}  # rounds that count
Exchange = Callable[[], object]
CONNECT_S = 20.0


def warmup(size: int) -> int:
    """Rounds that do not count."""
    return max(2, SIZES[size] // 8)


def measured(make: Callable[[int], Exchange]) -> dict[int, list[float]]:
    """Microseconds of each round that counts, by size."""
    found = {}
    for size, rounds in SIZES.items():
        once = make(size)
        for _ in range(warmup(size)):
            once()
        stamps = [time.perf_counter_ns()]
        for _ in range(rounds):
            once()
            stamps.append(time.perf_counter_ns())
        found[size] = [(after - before) / 1e3 for before, after in pairwise(stamps)]
    return found


def answered(make: Callable[[int], Exchange]) -> None:
    """The other side of `measured`."""
    for size, rounds in SIZES.items():
        once = make(size)
        for _ in range(warmup(size) + rounds):
            once()


def exchanged(
    asks: bool, send: Callable[[Any], object], take: Callable[[Any], object], memory: Callable[[int], Any]
) -> None:
    """One side of an exchange by way of `memory` of a size: the side that asks shows its times, the other answers."""

    def ping(size: int) -> Exchange:
        out, back = memory(size), memory(size)
        return lambda: (send(out), take(back))

    def pong(size: int) -> Exchange:
        back = memory(size)
        return lambda: (take(back), send(back))

    if asks:
        show(measured(ping))
    else:
        answered(pong)


def tcp(role: str, host: str, port: str) -> None:
    """A plain blocking socket; `role`: "listen" or "connect"."""
    if role == "listen":
        with socket.create_server((host, int(port))) as server:
            stream, _ = server.accept()
    else:
        stream = _connected(host, int(port))
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def take(view: memoryview) -> None:
        at = 0
        while at < len(view):
            at += stream.recv_into(view[at:])

    exchanged(role == "listen", stream.sendall, take, lambda size: memoryview(bytearray(size)))


def _connected(host: str, port: int) -> socket.socket:
    until = time.monotonic() + CONNECT_S
    while True:
        try:
            return socket.create_connection((host, port))
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def mpi() -> None:
    """Blocking calls of MPI with buffers, on two ranks."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    other = 1 - comm.rank
    exchanged(comm.rank == 0, partial(comm.Send, dest=other), partial(comm.Recv, source=other), bytearray)


def gloo(rank: str, host: str, port: str) -> None:
    """torch.distributed's gloo."""
    import torch
    from torch import distributed

    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"tcp://{host}:{port}", rank=int(rank), world_size=2)
    send, take = partial(distributed.send, dst=1 - int(rank)), partial(distributed.recv, src=1 - int(rank))
    exchanged(rank == "0", send, take, partial(torch.ones, dtype=torch.uint8))
    distributed.barrier()
    distributed.destroy_process_group()


def ray(address: str) -> None:
    """Calls of an actor on the other node."""
    import numpy as np
    import ray as engine

    engine.init(address=address, log_to_driver=False, configure_logging=False)

    class Echo:
        def echo(self, value: Any) -> Any:
            return value

        def node(self) -> str:
            return str(engine.get_runtime_context().get_node_id())

    remote: Any = engine.remote
    actor = remote(Echo).options(num_cpus=0, resources={"far": 0.1}).remote()
    if engine.get(actor.node.remote()) == engine.get_runtime_context().get_node_id():
        raise RuntimeError("the actor is not on the other node")

    def call(size: int) -> Exchange:
        out = np.ones(size, "u1")
        return lambda: engine.get(actor.echo.remote(out))

    show(measured(call))
    engine.shutdown()


def reactors() -> None:
    """A hub and one worker on two ranks: the whole of a tag, there and back."""
    from harness.studies.nodes.echo_reactors import rounds

    found = {}
    for size, count in SIZES.items():
        found[size] = rounds(size, count, warmup(size))
    if any(found.values()):
        show(found)


def show(found: dict[int, list[float]]) -> None:
    """Print the result."""
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    engines: dict[str, Callable[..., None]] = {"tcp": tcp, "mpi": mpi, "gloo": gloo, "ray": ray, "reactors": reactors}
    engines[sys.argv[1]](*sys.argv[2:])
