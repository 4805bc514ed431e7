"""Adds the workload `fake` to the catalogue of every process that has this directory on its path; shortens blocks."""

import dataclasses
from pathlib import Path

import workloads
from harness.engine import block
from workloads import catalogue

workloads.__path__.append(str(Path(__file__).parent))
catalogue.WORKLOADS["fake"] = catalogue.Workload("fake", "counts, and misbehaves on request")
block.EFFORT = dataclasses.replace(block.EFFORT, sweeps=3, fewest=1, turn_ns=1_000_000, lead_ns=0, warmup_s=(0.0, 0.05))
