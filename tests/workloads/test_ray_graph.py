"""The use of torch by an actor of a compiled graph."""

import subprocess
import sys

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


def test_an_actor_without_use_for_torch_forgoes_it_and_its_own_code_may_import_it_later():
    assert told("") == ["False", "False", "True"]


def test_an_actor_that_uses_torch_keeps_it():
    assert told("import torch") == ["True", "True", "True"]
