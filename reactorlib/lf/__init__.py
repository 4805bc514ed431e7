"""Lingua Franca source, target Python, as reactor classes. Reads, parses and translates; never runs a reaction."""

from reactorlib.lf.blueprint import LinguaFrancaWarning
from reactorlib.lf.load import load, run_options
from reactorlib.lf.parallelism import execution, federates

__all__ = ["LinguaFrancaWarning", "execution", "federates", "load", "run_options"]
