"""The vector environment: `vector_env.py` is what users call, `reactors.py` the program that steps the environments.

`groups.py` is the caller's side of that program, `share.py` the environments of one worker, and `layout.py` the places
of data.
"""

from reactorlib.gymnasium.vector.groups import EnvironmentTimeoutError
from reactorlib.gymnasium.vector.infos import Info, merged
from reactorlib.gymnasium.vector.layout import ARRAYS, is_plain, joined, put_rows, reshaped, rows_of
from reactorlib.gymnasium.vector.listed_env import ListedVectorEnv
from reactorlib.gymnasium.vector.share import NOT_GIVEN
from reactorlib.gymnasium.vector.vector_env import ReactorVectorEnv

__all__ = [
    "ARRAYS", "NOT_GIVEN", "EnvironmentTimeoutError", "Info", "ListedVectorEnv", "ReactorVectorEnv",
    "is_plain", "joined", "merged", "put_rows", "reshaped", "rows_of",
]  # fmt: skip
