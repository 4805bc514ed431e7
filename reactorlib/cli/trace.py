"""Run a program, write what ran as a trace for Perfetto, and print where the time went.

The file opens in chrome://tracing and in https://ui.perfetto.dev, where it stays on this machine. It has one track per
worker, and arrows where a reaction waited for one on another worker. The table:

  waiting   from the end of all that a reaction depends on at its tag until its begin
  critical  its part of the longest chains of dependent reactions: to make the program faster, begin there

examples:
  python -m reactorlib trace examples/powers.py:Powers -o powers.json
  python -m reactorlib trace examples/rl_pipeline.py:Pipeline --executor processes --workers 2 -o pipeline.json
  python -m reactorlib trace examples/furnace.py:Furnace --timeout 9s --fast --json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict

from reactorlib import Program, RunResult
from reactorlib.cli.output import Result, check_writable, write_file
from reactorlib.cli.run import RUNNING, executed, speaks
from reactorlib.cli.target import option
from reactorlib.view.timeline import Summary, summarised, trace_events

INTERRUPTED = "interrupted: a trace is kept when the run ends by itself, so give --timeout"
ARGUMENTS = [
    *RUNNING,
    option("-o", "--output", metavar="FILE.json", help="where to write the trace (default: nowhere)"),
    option("--unfold", action="store_true", help="a row for every member of a bank"),
]


def run(options: argparse.Namespace) -> Result:
    """Run the program, and write the trace."""
    if options.output:
        check_writable(options.output)  # before a long run
    program, result = executed(options, trace=True)
    spans = result.spans or []
    if options.output and speaks():
        events = trace_events(program, spans, result.workers, result.digest)
        write_file(options.output, (json.dumps(events) + "\n").encode())
    summary = summarised(program, spans, result.workers, options.unfold)
    told = {"file": options.output, "executor": result.executor, "workers": result.workers, "digest": result.digest}
    lines = list(_report(program, result, summary))
    if options.output:
        lines.append(f"trace: {options.output}, for https://ui.perfetto.dev or chrome://tracing")
    return Result({**told, **asdict(summary)}, "\n".join(lines))


def _report(program: Program, result: RunResult, summary: Summary) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("reaction", "count", "total", "mean", "longest", "waiting", "critical")]
    for row in summary.reactions:
        times = (row.total_ns, row.mean_ns, row.longest_ns, row.waiting_ns, row.critical_ns)
        path = row.path.removeprefix(f"{program.root.path}.")
        rows.append((path, str(row.count), *map(shown, times)))
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    for path, *numbers in rows:
        yield "  ".join((path.ljust(first), *(n.rjust(width) for n, width in zip(numbers, widths, strict=True))))
    count = sum(row.count for row in summary.reactions)
    yield ""
    yield (
        f"{count} reactions at {summary.tags} tags in {shown(summary.elapsed_ns)} on {result.workers} "
        f"worker{'' if result.workers == 1 else 's'} ({result.executor}), last tag {result.tag}"
    )
    if summary.critical_ns:
        bound = summary.work_ns / summary.critical_ns
        yield (
            f"work {shown(summary.work_ns)}, critical path {shown(summary.critical_ns)}: "
            f"at most {bound:.1f} times as fast with more workers"
        )
    for worker, busy in enumerate(summary.busy_ns):
        share = busy / summary.elapsed_ns if summary.elapsed_ns else 0.0
        yield f"worker {worker}: busy {shown(busy)}, {share:.0%} of the time"
    yield f"digest: {result.digest}"


def shown(time_ns: float) -> str:
    """A measured time with three digits.

    >>> shown(950), shown(1234567), shown(0)
    ('950 ns', '1.23 ms', '0 ns')
    """
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if time_ns >= size:
            value = time_ns / size
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"
    return f"{time_ns:.0f} ns"
