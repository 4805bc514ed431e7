"""`machine.json`: the machine of a run and the calls that made it. Owns which descriptions are the same machine.

The host's name and the user's are left out: results are published.
"""

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypedDict

import psutil

from harness.store import interpreter, interpreters
from harness.store.files import read_json
from harness.store.row import Positive
from reactorlib.cpus import available_cpus, cores, numa_node, usable_cpus
from workloads import memory
from workloads.ray_styles import STYLES

FILE_NAME = "machine.json"
_VARIABLE_PREFIXES = (
    "OMP_", "MKL_", "OPENBLAS_", "NUMEXPR_", "VECLIB_", "KMP_", "GOMP_", "MALLOC_", "LD_PRELOAD", "TORCH_",
    "CUDA_VISIBLE_DEVICES", "REACTORLIB_", "PYTHONMALLOC", "PYTHONOPTIMIZE", "PYTHONDEVMODE", "PYTHON_GIL",
    "PYTHON_JIT", "PYTHON_CPU_COUNT", "PYTHON_TLBC", "PYTHON_THREAD", "PYTHON_CONTEXT", "PYTHON_PERF", "PYTHON_LAZY",
)  # fmt: skip
# Fields that must be equal for rows to stand in one file.
_IDENTITY = ("cpu", "cores_allowed", "memory_gib", "kernel", "interpreter", "packages", "interpreters", "clock_speed")


class _Cpu(TypedDict, total=False):
    model: str
    cores: int | None


class _Session(TypedDict, total=False):
    started_at: str
    command: list[str]
    commit: str | None
    dirty: bool | None
    load_average: list[float]
    variables: dict[str, str]


class _Interpreter(TypedDict, total=False):
    packages: dict[str, str]


class _Description(TypedDict, total=False):
    """Fields that readers rely on where they are there. There are more."""

    cpu: _Cpu
    cores_allowed: Positive
    cores_usable: Positive
    threads_per_core: Positive
    numa_nodes: Positive
    memory_gib: float
    kernel: str
    interpreter: dict[str, str | bool]
    packages: dict[str, str]
    interpreters: dict[str, _Interpreter]
    sessions: list[_Session]


def read(path: Path, remedy: str) -> dict[str, Any]:
    """A description from its file. Raises UsageError, which ends with the remedy."""
    return read_json(path, _Description, remedy)


def describe(others: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """The machine, which stays the same for as long as rows may be added to a directory.

    `others`: the paths of interpreters besides this one, by name.
    """
    info = (word(Path("/proc/cpuinfo")) or "").splitlines()
    models = (line.partition(":")[2].strip() for line in info if line.startswith("model name"))
    return {
        "cpu": {
            "model": next(models, platform.machine()),
            "architecture": platform.machine(),
            "cores": psutil.cpu_count(),
            "physical_cores": psutil.cpu_count(logical=False),
        },
        "cores_allowed": available_cpus(),
        "cores_usable": usable_cpus(),
        "threads_per_core": max(map(len, cores())),
        "numa_nodes": len({numa_node(cpu) for core in cores() for cpu in core}),
        **describe_cpus(Path("/sys/devices/system/cpu")),
        "memory_gib": round(memory.total() / 2**30, 1),
        "kernel": f"{platform.system()} {platform.release()}",
        **interpreter.describe(),
        "interpreters": {kind: interpreters.describe(kind, path) for kind, path in others.items() if kind},
    }


def sharing(described: Mapping[str, Any]) -> str:
    """CPUs that share a core, and NUMA nodes, in words after a number of cores; empty where there are none."""
    threads, nodes = described.get("threads_per_core", 1), described.get("numa_nodes", 1)
    told = f" with {threads} CPUs each" if threads > 1 else ""
    return f"{told} on {nodes} NUMA nodes" if nodes > 1 else told


def describe_cpus(root: Path) -> dict[str, Any]:
    """The governors of the CPUs allowed to us, whether they may exceed their nominal clock, and which CPUs share a core
    with which of them. None for what Linux doesn't say.
    """

    def of_each(name: str) -> list[str] | None:
        told = (word(root / f"cpu{cpu}" / name) for cpu in os.sched_getaffinity(0))
        return sorted({one for one in told if one is not None}) or None

    capped, boosted = word(root / "intel_pstate" / "no_turbo"), word(root / "cpufreq" / "boost")
    turbo = capped == "0" if capped is not None else boosted == "1" if boosted is not None else None
    return {
        "clock_speed": {"governors": of_each("cpufreq/scaling_governor"), "turbo": turbo},
        "siblings": of_each("topology/thread_siblings_list"),
    }


def word(path: Path) -> str | None:
    """The text of a file of the system; None where there is none."""
    try:
        return path.read_text("utf-8").strip()
    except OSError:
        return None


def describe_session(command: Sequence[str], limits: Mapping[str, str]) -> dict[str, Any]:
    """One call of the harness: command line, commit, load, environment.

    `limits`: variables that the harness sets for every worker. Paths below the working directory are relative to it.
    """
    root = Path(__file__).parent
    commit = git(root, "rev-parse", "HEAD")
    changed = git(root, "status", "--porcelain", "--untracked-files=no") if commit else None
    relevant = {name: value for name, value in os.environ.items() if name.startswith(_VARIABLE_PREFIXES)}
    return {
        "started_at": timestamp(),
        "command": [argument.replace(f"{Path.cwd()}{os.sep}", "") for argument in command],
        "commit": commit,
        "dirty": None if changed is None else bool(changed),
        "load_average": list(os.getloadavg()),
        "variables": dict(sorted(relevant.items())),
        "variables_of_workers": dict(limits),
        "variables_of_ray": {f"ray-{style}": variables for style, variables in STYLES.items()},
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The respects that matter in which two descriptions differ, in a few words; empty where they don't."""
    found = []
    for name in _IDENTITY:
        there, here = before.get(name), now.get(name)
        if isinstance(there, dict) and isinstance(here, dict):
            keys = sorted(key for key in there.keys() | here.keys() if there.get(key) != here.get(key))
            found += [f"{name} {key} {there.get(key)} there, {here.get(key)} here" for key in keys]
        elif there != here:
            found.append(f"{name} {there} there, {here} here")
    return "; ".join(found)


def timestamp() -> str:
    """Now, UTC, ISO 8601, to the second."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def git(root: Path, *arguments: str, limit_s: float = 10.0) -> str | None:
    """The answer of git there; None where it fails, or takes longer."""
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
