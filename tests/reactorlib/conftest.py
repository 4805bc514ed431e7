"""Packages that are not installed are not needed. A file of tests that imports one is skipped, and names it. So the
tests of the kernel run wherever the kernel is installed, with pytest and Hypothesis.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@cache
def lacking(path: Path) -> frozenset[str]:
    """The packages that a file, or a file of these tests that it imports, imports at its top and that are not there."""
    names: list[str] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    missing = {root for root in (name.partition(".")[0] for name in names) if find_spec(root) is None}
    for name in names:
        if name.startswith("tests."):
            below = ROOT.joinpath(*name.split("."))
            here = next(
                (file for file in (below.with_suffix(".py"), below.parent.with_suffix(".py")) if file.exists()), None
            )
            missing |= lacking(here) if here else frozenset()
    return frozenset(missing)


class Unwanted(pytest.Module):
    """A file that cannot be imported for want of a package."""

    def collect(self) -> list[pytest.Item]:
        pytest.skip(f"needs {', '.join(sorted(lacking(self.path)))}", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Leave out what cannot be imported."""
    made: pytest.Module | None = Unwanted.from_parent(parent, path=module_path) if lacking(module_path) else None
    return made
