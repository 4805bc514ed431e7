"""Monarch's settings: names that it does not know would be ignored without a word."""

import subprocess
import sys

import pytest

from tests.pages import ROOT

SCRIPT = """
from workloads.actors import monarch  # first, as Monarch reads its settings when it is imported
from monarch.config import get_global_config

told = get_global_config()
for name, limit in monarch._SETTINGS.items():
    if name.startswith("HYPERACTOR_"):
        own = name.removeprefix("HYPERACTOR_").lower()
        print(told.get(own, told.get(own.removeprefix("mesh_"))) == limit)
"""


def test_monarch_knows_the_limits_that_it_is_given():
    pytest.importorskip("monarch")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["True"] * 5
