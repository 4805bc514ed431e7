"""Ray on two nodes (see two_nodes): how its head and the other node start, and on which of them an actor lives.

Where there is one node, nothing here changes anything.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from reactorlib.cpus import available_cpus
from reactorlib.schedule.partition import worker_of_member
from workloads import two_nodes

_JOINING_S = 60.0
_LEAVING_S = 10.0


def count() -> int:
    """How many nodes there are."""
    return len(two_nodes.ADDRESSES) if two_nodes.are_here() else 1


def of_head() -> dict[str, Any]:
    """The arguments of `ray.init` that let another node join."""
    if not two_nodes.are_here():
        return {}
    return {"_node_ip_address": two_nodes.ADDRESSES[0], "num_cpus": -(-available_cpus() // 2)}


def join(object_store_bytes: int | None) -> subprocess.Popen[bytes] | None:
    """Start Ray on the other node, and wait until it is there; the process that keeps it."""
    if not two_nodes.are_here():
        return None
    words = ["start", f"--address={ray.get_runtime_context().gcs_address}", "--block", "--disable-usage-stats"]
    words += [f"--node-ip-address={two_nodes.ADDRESSES[1]}", f"--num-cpus={max(1, available_cpus() // 2)}"]
    words += [f"--object-store-memory={object_store_bytes}"] if object_store_bytes else []
    command = [sys.executable, "-m", "ray.scripts.scripts", *words]
    joining = subprocess.Popen(two_nodes.on_node(1, command), stdout=subprocess.DEVNULL)
    give_up = time.monotonic() + _JOINING_S
    while len(_ids()) < len(two_nodes.ADDRESSES):
        if joining.poll() is not None or time.monotonic() > give_up:
            leave(joining)
            raise RuntimeError("Ray did not start on the other node")
        time.sleep(0.1)
    return joining


def leave(joined: subprocess.Popen[bytes]) -> None:
    """End Ray on the other node."""
    joined.terminate()
    try:
        joined.wait(_LEAVING_S)
    except subprocess.TimeoutExpired:
        joined.kill()
        joined.wait()


def homes(actors: int, in_driver: int = 0) -> Iterator[dict[str, Any]]:
    """The option of each of these actors that says where it lives: the second half on the other node.

    `in_driver`: how many shares of the work come first, in the driver on the first node.
    """
    ids = _ids() if two_nodes.are_here() else {}
    for index in range(in_driver, in_driver + actors):
        address = two_nodes.ADDRESSES[worker_of_member(index, in_driver + actors, len(two_nodes.ADDRESSES))]
        yield {"scheduling_strategy": NodeAffinitySchedulingStrategy(ids[address], soft=False)} if ids else {}


def _ids() -> dict[str, str]:
    """The id of each node by its address."""
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return {node["NodeManagerAddress"]: node["NodeID"] for node in nodes if node["Alive"]}
