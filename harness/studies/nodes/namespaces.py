"""Two nodes on one machine: a network, ipc, mount and uts namespace each, /dev/shm and /tmp/ray of their own, and veth.

    python namespaces.py COMMAND...          runs COMMAND on node0; what crossed the link goes to standard error as JSON
    python namespaces.py --on 1 COMMAND...   from within: on the other node
    python namespaces.py --rsh HOST COMMAND  the same, as the remote shell of a launcher of MPI

All lives in one outer pid (and, where not root, user) namespace: when it ends, so does everything in it, and nothing is
left to clean. Exit status 77: not permitted here, with the reason on standard error. COMMAND sees TWO_NODES
(addresses), TWO_NODES_RSH (a remote shell) and the names node0 and node1. TWO_NODES_RATE, such as 100mbit, caps the
link.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ADDRESSES = ("10.77.0.1", "10.77.0.2")
PREFIX = "TWO_NODES_PID"
NOT_PERMITTED = 77
NAMESPACES = ("--net", "--ipc", "--mount", "--uts")
TOOLS = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


def two_nodes(command: Sequence[str]) -> list[str]:
    """What runs a command on node0 of two nodes."""
    return [sys.executable, __file__, *command]


def why_not() -> str:
    """What keeps this machine from having two nodes; empty where nothing does."""
    for tool in ("unshare", "nsenter", "ip", "mount"):
        if not shutil.which(tool, path=TOOLS):
            return f"no {tool}"
    trial = [*_outer(), "ip", "link", "add", "p0", "type", "veth", "peer", "name", "p1"]
    probe = subprocess.run(trial, capture_output=True, text=True, check=False)
    return probe.stderr.strip() or "no namespaces" if probe.returncode else ""


def _outer() -> list[str]:
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *own, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def main(arguments: Sequence[str]) -> int:
    """See above."""
    if arguments[0] == "--inner":
        return _inner(arguments[1:])
    if arguments[0] in ("--on", "--rsh"):
        _go_to(arguments)
    reason = why_not()
    if reason:
        print(f"two nodes: not permitted here: {reason}", file=sys.stderr)
        return NOT_PERMITTED
    return subprocess.run([*_outer(), sys.executable, __file__, "--inner", *arguments], check=False).returncode


def _inner(command: Sequence[str]) -> int:
    """Process 1 of the pid namespace takes the status of every orphan; another sets up the nodes."""
    worker = os.fork()
    if not worker:
        return _run(command)
    while True:
        pid, status = os.wait()
        if pid == worker:
            return os.waitstatus_to_exitcode(status)


def _run(command: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="two-nodes-") as folder:
        hosts, rsh = Path(folder, "hosts"), Path(folder, "rsh")
        lines = ["127.0.0.1 localhost", *(f"{address} node{i}" for i, address in enumerate(ADDRESSES))]
        hosts.write_text("\n".join(lines) + "\n")
        rsh.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" --rsh "$@"\n')
        rsh.chmod(0o755)
        _sh("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1")
        Path("/tmp/ray").mkdir(exist_ok=True)
        holders = [_node(node, hosts) for node in (0, 1)]
        os.environ.update(TWO_NODES=",".join(ADDRESSES), TWO_NODES_RSH=str(rsh))
        before, began = sent(), time.perf_counter()
        status = subprocess.run([*_enter(0), *command], check=False).returncode
        crossed = [after - first for after, first in zip(sent(), before, strict=True)]
        report = {"tx_bytes": crossed, "seconds": round(time.perf_counter() - began, 2), "status": status}
        print("two nodes:", json.dumps(report), file=sys.stderr, flush=True)
        for holder in holders:
            holder.send_signal(signal.SIGKILL)
            holder.wait()
        return status


def _node(node: int, hosts: Path) -> "subprocess.Popen[str]":
    """Make a node; the process that keeps it."""
    script = (
        f"hostname node{node} && ip link set lo up && mount -t tmpfs -o mode=1777 shm /dev/shm && "
        f"mount -t tmpfs ray /tmp/ray && mount --bind {hosts} /etc/hosts && echo ready && exec sleep infinity"
    )
    holder = subprocess.Popen(["unshare", *NAMESPACES, "sh", "-c", script], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    if holder.stdout.readline().strip() != "ready":
        sys.exit("two nodes: a node did not come up")
    os.environ[f"{PREFIX}{node}"] = str(holder.pid)
    _sh("ip", "link", "set", f"v{node}", "netns", str(holder.pid))
    for words in (
        f"ip link set v{node} name eth0", f"ip addr add {ADDRESSES[node]}/24 dev eth0", "ip link set eth0 up",
    ):  # fmt: skip
        _sh(*_enter(node), *words.split())
    rate = os.environ.get("TWO_NODES_RATE")
    if rate:
        _sh(*_enter(node), *f"tc qdisc add dev eth0 root tbf rate {rate} burst 256kb latency 100ms".split())
    return holder


def _enter(node: int) -> list[str]:
    command = ("nsenter", "-t", os.environ[f"{PREFIX}{node}"], *NAMESPACES)
    return [*command, "sh", "-c", 'cd "$0" && exec "$@"', str(Path.cwd())]  # it leaves one at the root of the mounts


def _sh(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sent(what: str = "bytes") -> list[int]:
    """Bytes, or packets, that have left each node."""
    told = [json.loads(_sh(*_enter(node), "ip", "-s", "-j", "link", "show", "eth0")) for node in (0, 1)]
    return [links[0]["stats64"]["tx"][what] for links in told]


def crossed() -> tuple[int, int]:
    """Bytes and packets that have left both nodes."""
    return sum(sent()), sum(sent("packets"))


def _go_to(arguments: Sequence[str]) -> None:
    """Run the rest on another node, in the place of this process."""
    rest = list(arguments[1:])
    if arguments[0] == "--rsh":  # options for ssh come first: all are flags (-x, -q, ...)
        while rest[0].startswith("-"):
            rest.pop(0)
    name = rest.pop(0)
    node = (
        int(name) if name.isdigit() else ADDRESSES.index(name) if name in ADDRESSES else int(name.removeprefix("node"))
    )
    if arguments[0] == "--rsh":  # like ssh: the words are one shell command
        rest = ["sh", "-c", " ".join(rest)]
    os.execvp("nsenter", [*_enter(node), *rest])


def across(launcher: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """From within: a launcher of MPI with what makes it start one rank on each node, and the environment for it.

    The ranks share a kernel, and must not find another way than the link.
    """
    rsh = os.environ["TWO_NODES_RSH"]
    version = subprocess.run([launcher[0], "--version"], capture_output=True, text=True, check=False).stdout
    if "HYDRA" in version or "hydra" in version:
        return [*launcher, "-launcher", "ssh", "-launcher-exec", rsh, "-hosts", "node0,node1", "-ppn", "1"], {
            "UCX_TLS": "tcp,self"
        }
    options = f"--host node0:1,node1:1 --prtemca plm_ssh_agent {rsh} --map-by node -x PATH -x PYTHONPATH"
    wires = "--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth0"
    return [*launcher, *options.split(), *wires.split()], {"PMIX_MCA_ptl_base_if_include": "eth0"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
