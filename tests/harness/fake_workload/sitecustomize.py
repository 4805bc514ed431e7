"""Adds the workload `fake` to the catalogue of every process that has this directory on its path."""

from pathlib import Path

import workloads
from workloads import catalogue

workloads.__path__.append(str(Path(__file__).parent))
catalogue.WORKLOADS["fake"] = catalogue.Workload("fake", "counts, and misbehaves on request")
