"""The use of torch by an actor of a compiled graph."""

import subprocess
import sys

import pytest

TOLD = """
import importlib.util, sys
from workloads.ray_graph import _forgo_torch
{before}
_forgo_torch(None)
from ray.experimental.channel.common import ChannelContext
can_be_imported = importlib.util.find_spec("torch") is not None
print(ChannelContext.get_current().torch_available, "torch" in sys.modules, can_be_imported)
"""


def told(before):
    script = [sys.executable, "-c", TOLD.format(before=before)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("before", ["", "import torch"])
def test_a_graph_looks_for_no_device_and_the_actors_own_code_may_use_torch(before):
    assert told(before) == ["False", str(bool(before)), "True"]
