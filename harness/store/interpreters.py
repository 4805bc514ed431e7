"""The interpreters of a run: the suite's own, and others in environments of their own for backends that need them."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.store import interpreter
from workloads.catalogue import FREE_THREADED, RLLIB, backend_of

_TREE = Path(__file__).resolve().parents[2]
# Where each is looked for unless the command line names it, and the target that installs it there.
_ENVIRONMENTS = {FREE_THREADED: (".venv-ft", "install-freethreaded"), RLLIB: (".venv-rllib", "install-rllib")}
_LIMIT_SECONDS = 60.0


def find(backends: Iterable[str], given: Mapping[str, str | None]) -> dict[str, str]:
    """The path of each interpreter that the backends need, by its name in the catalogue. `given`: paths or commands.

    Raises UsageError if there is none.
    """
    found = {"": sys.executable}
    for kind in {backend_of(name).interpreter: None for name in backends if backend_of(name).interpreter}:
        directory, target = _ENVIRONMENTS[kind]
        wanted = given.get(kind) or str(_TREE / directory / "bin" / "python")
        if (path := shutil.which(wanted)) is None:
            needed = f"which the {kind} backends need; make {target} installs it"
            raise UsageError(f"{wanted}: no such interpreter, {needed}")
        found[kind] = str(Path(path).absolute())  # links stay: in an environment, python is one
    return found


def describe(kind: str, path: str) -> dict[str, Any]:
    """The properties of an interpreter besides the suite's own. Raises UsageError for one that cannot serve."""
    target, file = _ENVIRONMENTS[kind][1], str(interpreter.__file__)
    try:
        done = subprocess.run([path, "-P", file], capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=True)
        told: dict[str, Any] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UsageError(f"{path}: cannot describe itself as Python 3.11 or newer does ({error})") from None
    if kind == FREE_THREADED and not told["interpreter"]["free_threaded_build"]:
        raise UsageError(f"{path}: was built with a GIL; expected a free-threaded interpreter such as python3.14t")
    if "numpy" not in told["packages"]:
        raise UsageError(f"{path}: lacks numpy; make {target} installs an environment that has what is needed")
    return {**told["interpreter"], "packages": told["packages"]}
