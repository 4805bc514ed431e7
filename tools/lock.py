"""Writes constraints.txt again: the newest versions of everything that go together, by pip's own resolver.

`python tools/lock.py [OPTIONS OF pip install, such as --extra-index-url]` installs nothing.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "constraints.txt"
EXTRAS = "harness,workloads,peers,vectors,actors,mpi,docs,dev"
# Packages of PyPI's Linux build of torch that nothing here uses.
OF_CUDA = re.compile(r"^(nvidia-|cuda-|triton$)")


def resolved(options: list[str]) -> dict[str, str]:
    """The packages that pip would install into an empty environment, with their versions."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report"]
        subprocess.run([*command, report.name, *options, f"{ROOT}[{EXTRAS}]"], check=True)
        found = json.loads(Path(report.name).read_text(encoding="utf-8"))["install"]
    return {one["metadata"]["name"]: one["metadata"]["version"] for one in found}


def text(versions: dict[str, str], old: str) -> str:
    """The file, with the comments of the old one and a line per package. Local versions such as +cpu are left out."""
    head = [line for line in old.splitlines() if line.startswith("#")]
    kept = {name: version.partition("+")[0] for name, version in versions.items()}
    names = sorted((name for name in kept if name != "reactorlib" and not OF_CUDA.match(name)), key=str.lower)
    return "\n".join([*head, *(f"{name}=={kept[name]}" for name in names)]) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(resolved(sys.argv[1:]), FILE.read_text(encoding="utf-8")), encoding="utf-8")
