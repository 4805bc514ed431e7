"""The verdict as a table: a row for each workload, in it a clause against a loop, one against the best Ray, one of the
limit; and what the words in it mean. Decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness import quantity
from harness.report import verdict
from harness.report.summary import LIMIT, Summary
from harness.report.verdict import Clause
from harness.stats import limits

HEADING = "Verdict"
# In the order of the columns: what reactors are held against, and the heading.
_COLUMNS = {verdict.LOOP: "against a loop", verdict.BEST_RAY: "against the best Ray", LIMIT: "of the limit"}
HEADINGS = ("workload", *_COLUMNS.values())
NOTHING = "-"

# What the words of the table mean, as they come.
WORDS = tuple(
    " ".join(text.split())
    for text in (
        """How many times as fast reactors are, at the point where they do worst and at the one where they do best, each
        with its 95 % interval: in one thread against the plain loop, on all cores against Ray.""",
        """Best Ray: of Ray's backends the one that does best at a point. It is chosen from the results, and the
        interval counts that.""",
        limits.EXPLAINED.replace("'limit':", "Limit:"),
        """Undecided: the interval contains 1, the difference is below the noise floor of the noisiest backend, or there
        are too few trials to tell.""",
        """Every backend shown has the loop's digest, a short number made from all that it computed in its first rounds,
        unless it says otherwise: it has done the same work.""",
    )
)


@dataclass(frozen=True)
class MatrixRow:
    """A workload with its clauses in the order of the columns, None where there is nothing to compare."""

    workload: str
    clauses: tuple[Clause | None, ...]


def rows(summary: Summary) -> list[MatrixRow]:
    """What the verdict says; workloads in which reactors lose somewhere come first."""
    found = []
    for workload, clauses in verdict.judged(summary):
        by_baseline = {clause.baseline: clause for clause in clauses}
        found.append(MatrixRow(workload, tuple(by_baseline.get(baseline) for baseline in _COLUMNS)))
    return found


def cells(row: MatrixRow) -> Sequence[str]:
    """A row as text."""
    return (row.workload, *(NOTHING if clause is None else told(clause) for clause in row.clauses))


def told(clause: Clause) -> str:
    """A clause in a few words."""
    numbers = " to ".join(map(quantity.ratio, clause.ends))
    return f"{numbers}, {clause.standing}" if clause.standing else numbers
