"""Gymnasium vector environments on reactors: a front end on top of sessions. The kernel knows nothing of it.

Start with `vector_env.py`. `layout.py` has the places of data, `share.py` the operations of a worker on its
environments, and `reactors.py` the reactors.
"""

from reactorlib.gymnasium.check import check_vector_env
from reactorlib.gymnasium.groups import EnvironmentTimeoutError
from reactorlib.gymnasium.isolation import Finding, Isolation, check_isolation
from reactorlib.gymnasium.parallel_agents import ReactorAgentsVectorEnv
from reactorlib.gymnasium.pool import ReactorPool
from reactorlib.gymnasium.record import ReplayError
from reactorlib.gymnasium.registration import make_vec, register
from reactorlib.gymnasium.saving import ResumeError
from reactorlib.gymnasium.statistics import Statistics
from reactorlib.gymnasium.vector_env import ReactorVectorEnv

__all__ = [
    "EnvironmentTimeoutError",
    "Finding",
    "Isolation",
    "ReactorAgentsVectorEnv",
    "ReactorPool",
    "ReactorVectorEnv",
    "ReplayError",
    "ResumeError",
    "Statistics",
    "check_isolation",
    "check_vector_env",
    "make_vec",
    "register",
]
