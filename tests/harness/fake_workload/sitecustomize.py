"""Adds the workload `fake` to the catalogue of the processes that have this directory on their path, and shortens the
blocks of the harness. Supervisors, which know of neither, start without.
"""

import sys
from pathlib import Path

if "harness.measure.supervisor" not in sys.orig_argv:
    import workloads
    from workloads import catalogue

    workloads.__path__.append(str(Path(__file__).parent))
    catalogue.WORKLOADS["fake"] = catalogue.Workload(
        "fake", "workloads.fake", 100, "Fake", "counts, and misbehaves on request", {}
    )
if "harness" in sys.orig_argv:
    import dataclasses

    from harness.measure import block

    block.EFFORT = dataclasses.replace(
        block.EFFORT, sweeps=3, fewest=1, turn_ns=1_000_000, waking_ns=0, warmup_ns=1_000_000, warmup_s=(0.0, 0.05)
    )
