"""Broadcast and gather in Lingua Franca: broadcast_gather.lf."""

from functools import partial
from pathlib import Path

from workloads import lingua_franca

run = partial(lingua_franca.run, Path(__file__).with_name("broadcast_gather.lf"))
