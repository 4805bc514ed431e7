"""Q-learning in Lingua Franca: q_learning.lf."""

from functools import partial
from pathlib import Path

from workloads import lingua_franca

run = partial(lingua_franca.run, Path(__file__).with_name("q_learning.lf"))
