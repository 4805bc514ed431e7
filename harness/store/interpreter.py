"""The properties of an interpreter. Run as a file, it prints them as JSON. Imports the standard library only."""

import importlib.metadata
import json
import platform
import sysconfig
from typing import Any

# Packages that can move a number.
_PACKAGES = (
    "ale-py", "envpool", "gymnasium", "matplotlib", "numpy", "pandas", "pettingzoo", "psutil", "ray",
    "reactorlib", "stable-baselines3", "tianshou", "torch", "torchrl",
)  # fmt: skip


def describe() -> dict[str, Any]:
    """This interpreter, and the versions of its packages."""
    return {
        "interpreter": {
            "implementation": platform.python_implementation(),
            "version": platform.python_version(),
            "compiler": platform.python_compiler(),
            "free_threaded_build": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        },
        "packages": {name: version for name in _PACKAGES if (version := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    print(json.dumps(describe()))
