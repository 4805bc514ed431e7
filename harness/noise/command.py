"""The command `noise`: its arguments and exit status."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness import results
from harness.engine import block
from harness.noise import campaign, floor

DESCRIPTION = (
    "Compare backends of a finished run with themselves, in blocks of turns as the run's own, and write every "
    "comparison into noise.csv beside its measurements. The report then says how often the interval contained 1 and "
    "how wide it was, and calls smaller differences undecided."
)


def run(path: Path, parsed: argparse.Namespace, tell: Callable[[str], None]) -> int:
    """Measure, and print what the report will say; returns the exit status."""
    run_id, measured = results.stored_grid(path)
    rows = campaign.run(
        path,
        run_id,
        campaign.subjects(measured, parsed.workload, parsed.backend),
        comparisons=parsed.comparisons,
        trials=parsed.trials,
        effort=replace(block.EFFORT, limit_s=parsed.time_limit or measured.time_limit_s),
        tell=tell,
    )
    print("\n".join(floor.lines(rows)))
    return 1 if any(row.ratio is None for row in rows) else 0
