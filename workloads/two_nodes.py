"""Two nodes on one machine, joined by a virtual link: each has a network, shared memory and a host name of its own.

    python two_nodes.py COMMAND...            run COMMAND on node0
    python two_nodes.py --rsh node1 COMMAND   from within: the remote shell of a launcher of MPI

Needs root or user namespaces, and the tools of util-linux and iproute2. The nodes end with COMMAND. Speeds are those of
a virtual link, not of a network.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import dropwhile
from pathlib import Path

ADDRESSES = ("10.77.0.1", "10.77.0.2")
_KEEPERS = "TWO_NODES"  # the ids of the processes that keep the nodes
_OWN = ("--net", "--ipc", "--mount", "--uts")
_SHELL = Path("/dev/shm/rsh")  # ends with the node
_TOOLS = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
# The node has memory of its own below /dev/shm and knows the other's name. It lives until its standard input ends.
_KEEP = (
    "hostname {name} && ip link set lo up && mount -t tmpfs -o mode=1777 shm /dev/shm && "
    "echo '{hosts}' > /dev/shm/hosts && mount --bind /dev/shm/hosts /etc/hosts && echo ready && exec cat"
)


def are_here() -> bool:
    """Whether this process is on one of two nodes."""
    return _KEEPERS in os.environ


def why_not() -> str:
    """The reason why this machine cannot have two nodes; empty if it can."""
    for tool in ("unshare", "nsenter", "ip", "mount"):
        if not shutil.which(tool, path=_TOOLS):
            return f"no {tool}"
    trial = [*_outside(), "ip", "link", "add", "p0", "type", "veth", "peer", "name", "p1"]
    probe = subprocess.run(trial, capture_output=True, text=True, check=False)
    return probe.stderr.strip() or "no namespaces" if probe.returncode else ""


def on_node0(command: Sequence[str]) -> list[str]:
    """The command that runs another on node0 of two new nodes."""
    return [*_outside(), sys.executable, "-P", __file__, "--new", *command]


def on_node(node: int, command: Sequence[str]) -> list[str]:
    """From within: the command that runs another on a node."""
    keeper = os.environ[_KEEPERS].split(",")[node]
    # Entering the mounts leaves one at their root.
    return ["nsenter", "-t", keeper, *_OWN, "sh", "-c", 'cd "$0" && exec "$@"', str(Path.cwd()), *command]


def across(launcher: Sequence[str], ranks: int) -> list[str]:
    """From within: a launcher of MPI that starts so many ranks, half of them on each node, with no way but the link."""
    hosts = f"node0:{ranks - ranks // 2},node1:{ranks // 2}"
    remote = [sys.executable, "-P", __file__, "--rsh"]
    _SHELL.write_text(f'#!/bin/sh\nexec {shlex.join(remote)} "$@"\n')
    _SHELL.chmod(0o755)
    version = subprocess.run([launcher[0], "--version"], capture_output=True, text=True, check=False).stdout
    if "HYDRA" in version or "hydra" in version:
        words = f"-launcher ssh -launcher-exec {_SHELL} -hosts {hosts} -n {ranks}"
        return ["env", "UCX_TLS=tcp,self", *launcher, *words.split()]
    words = f"--host {hosts} --prtemca plm_ssh_agent {_SHELL} -x PATH -x PYTHONPATH -n {ranks}"
    wires = "--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth0"
    return ["env", "PMIX_MCA_ptl_base_if_include=eth0", *launcher, *words.split(), *wires.split()]


def _outside() -> list[str]:
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *own, "--net"]


def _make(command: Sequence[str]) -> None:
    """Make the nodes, and go on as the command on node0."""
    subprocess.run(["ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1"], check=True)
    reading, writing = os.pipe()
    os.environ[_KEEPERS] = ",".join(str(_node(node, reading)) for node in (0, 1))
    os.set_inheritable(writing, True)  # the keepers end when whoever has it has ended
    os.execvp("nsenter", on_node(0, command))


def _node(node: int, alive: int) -> int:
    """Make a node; the id of the process that keeps it."""
    hosts = "\n".join(["127.0.0.1 localhost", *(f"{address} node{i}" for i, address in enumerate(ADDRESSES))])
    script = _KEEP.format(name=f"node{node}", hosts=hosts)
    keeper = subprocess.Popen(["unshare", *_OWN, "sh", "-c", script], stdin=alive, stdout=subprocess.PIPE)
    assert keeper.stdout is not None
    if keeper.stdout.readline() != b"ready\n":
        sys.exit(f"node{node} did not come up")
    link = f"ip link set v{node} netns {keeper.pid}"
    subprocess.run(link.split(), check=True)
    inside = f"ip link set v{node} name eth0 && ip addr add {ADDRESSES[node]}/24 dev eth0 && ip link set eth0 up"
    subprocess.run(["nsenter", "-t", str(keeper.pid), "--net", "sh", "-c", inside], check=True)
    return keeper.pid


def _remote(arguments: Sequence[str]) -> None:
    """Go on as a command on another node, as ssh would: flags, a host, and the words of one shell command."""
    host, *words = dropwhile(lambda word: word.startswith("-"), arguments)
    os.execvp("nsenter", on_node(int(host.removeprefix("node")), ["sh", "-c", " ".join(words)]))


if __name__ == "__main__":
    if sys.argv[1] == "--new":
        _make(sys.argv[2:])
    elif sys.argv[1] == "--rsh":
        _remote(sys.argv[2:])
    elif reason := why_not():
        sys.exit(f"no two nodes here: {reason}")
    else:
        command = on_node0(sys.argv[1:])
        os.execvp(command[0], command)
