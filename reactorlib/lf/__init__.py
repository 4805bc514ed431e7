"""Lingua Franca source, target Python, as reactor classes: `load` a file.

Reads, parses and translates; the classes run like any other. Never runs a reaction. Read program first.
"""

from reactorlib.lf.blueprint import LinguaFrancaWarning
from reactorlib.lf.load import load, run_options
from reactorlib.lf.parallelism import execution, federates

__all__ = ["LinguaFrancaWarning", "execution", "federates", "load", "run_options"]
