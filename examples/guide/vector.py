"""The parts of a vector environment: four groups, each with its share of the environments on its worker.

For its diagram only: `reactorlib.gymnasium.ReactorVectorEnv` makes this program, and drives it.

    python -m reactorlib graph examples/guide/vector.py:Main -o vector.svg
"""

from reactorlib import Reactor
from reactorlib.gymnasium.vector.reactors import Environments


class Main(Reactor):
    """A program for sixteen environments, say, four in each group."""

    def __init__(self, groups: int = 4) -> None:
        self.environments = Environments(groups, None)
