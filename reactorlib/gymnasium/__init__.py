"""Gymnasium vector environments on reactors: a front end on top of sessions. The kernel knows nothing of it.

Each package is a room, and others use what it exports. A room may import those before it: `isolation`, `saving`,
`vector`, `contract`, `evaluation`, `pool`. Start with `vector/`.
"""

from reactorlib.gymnasium.contract import check_vector_env
from reactorlib.gymnasium.evaluation import Episode, EpisodeRow, Evaluation, evaluate
from reactorlib.gymnasium.isolation import Finding, Isolation, check_isolation
from reactorlib.gymnasium.parallel_agents import ReactorAgentsVectorEnv
from reactorlib.gymnasium.pool import ReactorPool
from reactorlib.gymnasium.registration import make_vec, register
from reactorlib.gymnasium.saving import ResumeError
from reactorlib.gymnasium.vector import EnvironmentTimeoutError, ReactorVectorEnv

__all__ = [
    "EnvironmentTimeoutError",
    "Episode",
    "EpisodeRow",
    "Evaluation",
    "Finding",
    "Isolation",
    "ReactorAgentsVectorEnv",
    "ReactorPool",
    "ReactorVectorEnv",
    "ResumeError",
    "check_isolation",
    "check_vector_env",
    "evaluate",
    "make_vec",
    "register",
]
