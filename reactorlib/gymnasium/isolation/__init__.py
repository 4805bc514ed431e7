"""Whether an environment is its own: the check, which plays it in processes of its own, the report, and the remedy."""

from reactorlib.gymnasium.isolation.generators import GENERATORS, OwnGenerators, forms, put, states
from reactorlib.gymnasium.isolation.isolate import Isolate, apart
from reactorlib.gymnasium.isolation.isolation_check import check_isolation
from reactorlib.gymnasium.isolation.play_server import maker
from reactorlib.gymnasium.isolation.report import Finding, Isolation

__all__ = [
    "GENERATORS", "Finding", "Isolate", "Isolation", "OwnGenerators", "apart", "check_isolation", "forms", "maker",
    "put", "states",
]  # fmt: skip
