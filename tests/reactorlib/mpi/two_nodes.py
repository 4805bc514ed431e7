"""On node0 of two nodes: `python two_nodes.py LAUNCHER ARGUMENTS...` runs a rank on each.

Prints what the job printed, and a line of JSON at the end.
"""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from workloads.two_nodes import across, on_node

LONGEST_S = 100


def main() -> None:
    """See above."""
    arguments = sys.argv[1:]
    launcher = across(shlex.split(arguments[0]), 2)
    with TemporaryDirectory() as folder:
        env = {**os.environ, "TMPDIR": folder}  # numbers of processes begin anew, and launchers name files by them
        out = Path(folder, "out")
        with out.open("w") as file:
            job = subprocess.Popen([*launcher, sys.executable, *arguments[1:]], env=env, stdout=file)
        began = time.monotonic()
        status = job.wait(LONGEST_S)
        after_s = time.monotonic() - began
        until = time.monotonic() + 3
        while left() and time.monotonic() < until:
            time.sleep(0.02)
        print(out.read_text())
        print(json.dumps({"status": status, "after_s": after_s, "left": left(), "sent": sent()}), flush=True)


def sent() -> list[int]:
    """Bytes that have left each node."""
    found = []
    for node in (0, 1):
        told = subprocess.run(
            on_node(node, ["ip", "-s", "-j", "link", "show", "eth0"]), capture_output=True, check=True
        )
        found.append(json.loads(told.stdout)[0]["stats64"]["tx"]["bytes"])
    return found


def left() -> list[str]:
    """Commands of the pid namespace that are neither this one nor what keeps the nodes."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                text = (entry / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            if text.split() and text.split() != ["cat"]:  # keeps a node
                found.append(text)
    return found


if __name__ == "__main__":
    main()
