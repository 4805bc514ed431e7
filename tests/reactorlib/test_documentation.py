"""Every public name is documented with an example, and every example of the package runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import reactorlib

MODULES = sorted(
    name for _, name, _ in pkgutil.walk_packages(reactorlib.__path__, "reactorlib.") if not name.endswith("__main__")
)
UNITS = {"NSEC", "USEC", "MSEC", "SEC", "MINUTE", "HOUR"}  # their type, Time, has the example
TYPES = {"Maybe", "ExecutorName"}  # of arguments: Input and run have the examples
TIMES = {"logical_elapsed", "physical_elapsed", "physical_time", "start_time"}  # logical_time has the example
# Packages that modules or their examples need, for those who have them.
NEEDED = {
    "reactorlib.gymnasium": "gymnasium",
    "reactorlib.gymnasium.sb3": "stable_baselines3",
    "reactorlib.gymnasium.tianshou_env": "tianshou",
    "reactorlib.transport.batch": "numpy",
}


@pytest.mark.parametrize("name", sorted(set(reactorlib.__all__) - UNITS - TYPES - TIMES))
def test_public_name_has_an_example(name: str) -> None:
    assert ">>>" in (getattr(reactorlib, name).__doc__ or ""), f"reactorlib.{name} has no example"


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    for needing, package in NEEDED.items():
        if f"{name}.".startswith(f"{needing}."):
            pytest.importorskip(package)
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
