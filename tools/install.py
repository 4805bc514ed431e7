"""Install the suite into this environment, at the versions of constraints.txt: a line per step, the rest in a log.

`python tools/install.py [--develop] [OPTIONS OF pip install]` installs what measures, and with `--develop` also what
the tests and the site need. `python tools/install.py --collect DIRECTORY [OPTIONS OF pip download]` instead fetches
wheels of what measures, for a machine without a network. A package that this Python cannot have is left out, with one
line that says so, unless the suite does nothing without it.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parent.parent
HARNESS, WORKLOADS, OTHERS = ("harness",), ("workloads",), ("mpi", "peers")
DEVELOPMENT = ("dev", "docs")
BACKEND = ("setuptools>=77",)  # pip builds the checkout with it
LOG = Path(sys.prefix, "install.log")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")

Pip = Callable[[Sequence[str]], str]  # takes the arguments of pip, returns why it failed, or ""


def pip(arguments: Sequence[str]) -> str:
    """Run pip, and write what it says to the log. Its last line of error is the reason why it failed."""
    done = subprocess.run(
        [*PIP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"pip {' '.join(arguments)}\n{done.stdout}\n")
    faults = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
    return faults[-1] if done.returncode and faults else f"pip ended with {done.returncode}" if done.returncode else ""


def requirements(extras: Iterable[str]) -> list[str]:
    """The requirements of these extras of the project."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    return [requirement for extra in extras for requirement in known[extra]]


def name_of(requirement: str) -> str:
    """The normalized name of the package in a requirement or a constraint."""
    found = re.match(r"[\w.-]+", requirement)
    return re.sub(r"[-_.]+", "-", found.group() if found else requirement).lower()


def of_the_system() -> dict[str, str]:
    """The packages of the system's Python with their versions, if this environment sees them: SYSTEM_SITE=1."""
    config = Path(sys.prefix, "pyvenv.cfg")
    if not config.exists() or "include-system-site-packages = true" not in config.read_text("utf-8"):
        return {}
    places = [place for place in sys.path if not Path(place).is_relative_to(sys.prefix)]
    return {name_of(one.metadata["Name"]): one.version for one in metadata.distributions(path=places)}


class Steps:
    """Calls of pip for requirements that the system's Python does not provide, each with a line."""

    def __init__(self, verb: Sequence[str], options: Sequence[str], system: Mapping[str, str], run: Pip) -> None:
        self._verb, self._options, self._system, self._run = verb, options, system, run
        self.python = f"Python {platform.python_version()}"

    def take(self, what: str, asked: Sequence[str], *options: str) -> str:
        """One call for all of these. Returns why it failed, or nothing."""
        missing = [one for one in asked if name_of(one) not in self._system]
        for one in asked:
            if version := self._system.get(name_of(one)):
                print(f"of the system's Python: {name_of(one)} {version}, where the suite asks for {one}", flush=True)
        if not missing:
            return ""
        began = monotonic()
        print(f"{what} ...", end=" ", flush=True)
        fault = self._run([*self._verb, *self._constraints(), *self._options, *options, *missing])
        print("failed" if fault else f"{monotonic() - began:.0f} s", flush=True)
        return fault

    def take_each(self, asked: Sequence[str]) -> None:
        """A call for each of these, which are left out where they cannot be had."""
        for one in asked:
            fault = self.take(name_of(one), [one], "--only-binary", ":all:")
            if fault:
                print(f"left out: {name_of(one)}, which {self.python} cannot have: {fault}", file=sys.stderr)

    def _constraints(self) -> list[str]:
        """The pinned versions, but for packages that the system provides in another."""
        file = ROOT / "constraints.txt"
        if self._system:
            lines = [line for line in file.read_text("utf-8").splitlines() if name_of(line) not in self._system]
            file = Path(sys.prefix, "constraints.txt")
            file.write_text("\n".join(lines) + "\n", "utf-8")
        return ["--constraint", str(file)]


def install(
    options: Sequence[str], *, develop: bool = False, run: Pip = pip, system: Mapping[str, str] | None = None
) -> int:
    """Install what the suite needs, then every other requirement as far as it can be had. The exit status."""
    steps = Steps(["install"], options, of_the_system() if system is None else system, run)
    needed = requirements([*HARNESS, *WORKLOADS, *DEVELOPMENT] if develop else HARNESS)
    fault = steps.take("what the tests need" if develop else "the harness", needed)
    fault = fault or run(["install", *options, "--no-deps", "--editable", str(ROOT)])
    if fault:
        print(
            f"the suite cannot be installed on {steps.python}: {fault}\n(all that pip said is in {LOG})\n"
            "try another one: make PYTHON=python3.11. The runtime alone needs no other package: pip install .",
            file=sys.stderr,
        )
        return 1
    if not develop and steps.take("the workloads", requirements(WORKLOADS), "--only-binary", ":all:"):
        steps.take_each(requirements(WORKLOADS))
    steps.take_each(requirements(OTHERS))
    return 0


def collect(directory: str, options: Sequence[str], run: Pip = pip) -> int:
    """Fetch the wheels for `install`, for this Python and kind of machine. The exit status."""
    steps = Steps(["download", "--dest", directory], options, {}, run)
    fault = steps.take("the harness", [*BACKEND, *requirements(HARNESS)], "--only-binary", ":all:")
    if fault:
        print(f"no wheels for {steps.python}: {fault} (all that pip said is in {LOG})", file=sys.stderr)
        return 1
    steps.take_each(requirements([*WORKLOADS, *OTHERS]))
    wheels = [*Path(directory).glob("*.whl")]
    size = sum(wheel.stat().st_size for wheel in wheels) / 1e6
    print(f"{len(wheels)} wheels, {size:.0f} MB, for {steps.python} on {platform.machine()}")
    return 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--collect", directory, *options]:
            sys.exit(collect(directory, options))
        case ["--develop", *options]:
            sys.exit(install(options, develop=True))
        case options:
            sys.exit(install(options))
