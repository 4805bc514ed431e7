"""The command `noise`: its arguments and exit status."""

import argparse
from collections.abc import Callable
from pathlib import Path

from harness import results
from harness.noise import campaign, floor

DESCRIPTION = (
    "Compare backends of a finished run with themselves, by the statistics of its report, and write every comparison "
    "into noise.csv beside its measurements. The report then says how often the interval contained 1 and how wide it "
    "was, and calls smaller differences undecided."
)


def run(path: Path, parsed: argparse.Namespace, tell: Callable[[str], None]) -> int:
    """Measure, and print what the report will say; returns the exit status."""
    run_id, measured = results.stored_grid(path)
    chosen = campaign.subjects(path, measured, parsed.workload, parsed.backend)
    rows = campaign.run(
        path,
        run_id,
        chosen,
        comparisons=parsed.comparisons,
        trials=parsed.trials,
        time_limit_s=parsed.time_limit or measured.time_limit_s,
        tell=tell,
    )
    print("\n".join(floor.lines(rows)))
    return 1 if any(row.ratio is None for row in rows) else 0
