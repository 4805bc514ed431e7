"""The breakdown for the terminal: of each point and backend, how long a round is, its phases, and who is the last."""

from collections.abc import Iterator, Sequence
from statistics import median

from rich.table import Table

from harness import quantity
from harness.grouping import grouped
from harness.report.point_labels import point_labels
from harness.stats import stragglers
from harness.store.phase_table import PHASES, PLAIN_ROUND, ROUND, PhaseRow

EXPLAINED = (
    "Parts of a round, medians over trials. 'hub': its own code; 'serialise': values to bytes and back, storing them; "
    "'submit': handing work over; 'transfer': nobody works, a message is on its way or a process waits for a core; "
    "'wait': some workers work, others have ended or not begun; 'compute': the workers' code. 'plain': a round "
    "without recording: where 'round' is far above it, one sees the recording. "
    f"{stragglers.EXPLAINED}"
)


def tables(rows: Sequence[PhaseRow]) -> Iterator[Table]:
    """One table per workload."""
    labels = point_labels(rows)
    for workload, own in grouped(rows, lambda row: row.workload).items():
        table = Table(title=workload, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for name in ("point", "backend", "round", "plain", *PHASES, *stragglers.COLUMNS):
            table.add_column(name, justify="left" if name in ("point", "backend") else "right")
        for (point, backend), of_one in grouped(own, lambda row: (row.point, row.backend)).items():
            table.add_row(labels[point], backend, *_cells(of_one))
        yield table


def _cells(rows: Sequence[PhaseRow]) -> Iterator[str]:
    medians = {}
    for phase in (ROUND, PLAIN_ROUND, *PHASES):
        values = [row.value for row in rows if row.phase == phase and row.value is not None]
        if not values:
            yield rows[0].status
            return
        medians[phase] = median(values)
    yield quantity.show(medians[ROUND], "ns")
    yield quantity.show(medians[PLAIN_ROUND], "ns")
    yield from (f"{medians[phase] / medians[ROUND]:.0%}" for phase in PHASES)
    for late in stragglers.medians(rows).values():
        yield from late.cells
