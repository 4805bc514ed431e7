"""One engine's exchange of a message between two nodes, there and back: `python -m harness.nodes.echo ENGINE [...]`.

Each prints a line of JSON, {bytes: [microseconds of each round]}. A message is an array of bytes; `reactors` and `ray`
take it as their users would, `tcp` and `mpi` into memory that is there.
"""

import json
import socket
import sys
import time
from collections.abc import Callable
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

    def ping(size: int) -> Exchange:
        out, back = memoryview(bytearray(size)), memoryview(bytearray(size))

        def once() -> None:
            stream.sendall(out)
            take(back)

        return once

    def pong(size: int) -> Exchange:
        back = memoryview(bytearray(size))

        def once() -> None:
            take(back)
            stream.sendall(back)

        return once

    if role == "listen":
        show(measured(ping))
    else:
        answered(pong)


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

    def ping(size: int) -> Exchange:
        out, back = bytearray(size), bytearray(size)

        def exchange() -> None:
            comm.Send(out, 1)
            comm.Recv(back, 1)

        return exchange

    def pong(size: int) -> Exchange:
        back = bytearray(size)

        def exchange() -> None:
            comm.Recv(back, 0)
            comm.Send(back, 0)

        return exchange

    if comm.rank:
        answered(pong)
    else:
        show(measured(ping))


def gloo(rank: str, host: str, port: str) -> None:
    """torch.distributed's gloo."""
    import torch
    from torch import distributed

    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"tcp://{host}:{port}", rank=int(rank), world_size=2)

    def ping(size: int) -> Exchange:
        out, back = torch.ones(size, dtype=torch.uint8), torch.ones(size, dtype=torch.uint8)
        return lambda: (distributed.send(out, 1), distributed.recv(back, 1))

    def pong(size: int) -> Exchange:
        back = torch.ones(size, dtype=torch.uint8)
        return lambda: (distributed.recv(back, 0), distributed.send(back, 0))

    if int(rank):
        answered(pong)
    else:
        show(measured(ping))
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
    from harness.nodes.echo_reactors import rounds

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
