"""Install the suite into this environment, at the versions of constraints.txt: `python tools/install.py [PIP OPTIONS]`.

A peer that has no wheel for this Python is left out, with one line that says so.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = "bench,dev,docs"
OPTIONAL = ("mpi", "peers")
PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check")

Pip = Callable[[Sequence[str]], str]  # takes arguments of `pip install`, returns why it failed, or ""


def pip(arguments: Sequence[str]) -> str:
    """Run `pip install`. Its last line of error is the reason why it failed."""
    done = subprocess.run([*PIP, *arguments], stderr=subprocess.PIPE, text=True, check=False)
    faults = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return faults[-1] if done.returncode and faults else f"pip ended with {done.returncode}" if done.returncode else ""


def install(options: Sequence[str], run: Pip = pip) -> int:
    """Install what the suite needs, then each optional requirement by itself. The exit status."""
    python = f"Python {platform.python_version()}"
    common = ["--constraint", str(ROOT / "constraints.txt"), *options]
    fault = run([*common, "--editable", f"{ROOT}[{NEEDED}]"])
    if fault:
        print(
            f"the suite cannot be installed on {python}: {fault}\n"
            "try another one: make PYTHON=python3.11. The runtime alone needs no other package: pip install .",
            file=sys.stderr,
        )
        return 1
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for requirement in (one for extra in OPTIONAL for one in extras[extra]):
        fault = run([*common, "--quiet", "--only-binary", ":all:", requirement])
        if fault:
            name = re.match(r"[\w.-]+", requirement)
            print(f"left out: {name and name.group()}, which {python} cannot have: {fault}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
