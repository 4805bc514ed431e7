"""Traffic Junction in Lingua Franca: multi_agent.lf."""

from functools import partial
from pathlib import Path

from workloads import lingua_franca

run = partial(lingua_franca.run, Path(__file__).with_name("multi_agent.lf"))
