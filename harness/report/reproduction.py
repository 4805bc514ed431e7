"""The effort and the expected ratios of each workload of a run, for readers who measure it again."""

from collections import Counter, defaultdict

from harness import quantity
from harness.report import readme_claims
from harness.report.paper_claims import range_of
from harness.report.summary import RAY_PAPER, Summary
from harness.report.text_table import NOTHING, TextTable

COLUMNS = ("workload", "starts", "time here", "memory", "reactors over ray-paper", "expected", "over the best Ray")


def table(summary: Summary) -> TextTable:
    """A row per workload.

    Time is that of all its points and backends, memory the most that a backend held. The ratios are of the points with
    the lowest and the highest. The expected range is that of the claims.
    """
    seconds: dict[str, float] = defaultdict(float)
    memory: dict[str, int] = defaultdict(int)
    starts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)  # of each point and backend
    for trial in summary.trials:
        seconds[trial.workload] += trial.duration_s
        memory[trial.workload] = max(memory[trial.workload], trial.peak_bytes or 0)
        starts[trial.workload][trial.parameters, trial.backend] += 1
    return TextTable("", COLUMNS, tuple(
        (
            workload,
            quantity.from_to(starts[workload].values()),
            quantity.duration_s(seconds[workload]),
            quantity.size(memory[workload]),
            *_ratios(summary, workload),
        )
        for workload in dict.fromkeys(point.workload for point in summary.points)
    ))  # fmt: skip


def _ratios(summary: Summary, workload: str) -> tuple[str, str, str]:
    """The range of our backend's ratios to Ray as the paper calls it, measured and expected, and to the best Ray."""
    cells = [cell for point in summary.points if point.workload == workload and (cell := point.cell(summary.ours))]
    paper = [cell.speedups[RAY_PAPER] for cell in cells if RAY_PAPER in cell.speedups]
    best = [found[0] for cell in cells if (found := cell.best_ray) is not None]
    expected = " to ".join(map(quantity.times, readme_claims.expected(paper))) if paper else NOTHING
    return range_of(paper), expected, range_of(best)
