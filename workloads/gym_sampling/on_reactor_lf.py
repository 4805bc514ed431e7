"""Sampling in Lingua Franca: sampling.lf."""

from functools import partial
from pathlib import Path

from workloads import lingua_franca

run = partial(lingua_franca.run, Path(__file__).with_name("sampling.lf"))
