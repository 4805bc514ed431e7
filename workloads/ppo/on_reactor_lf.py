"""PPO in Lingua Franca: ppo.lf."""

from functools import partial
from pathlib import Path

from workloads import lingua_franca

run = partial(lingua_franca.run, Path(__file__).with_name("ppo.lf"))
