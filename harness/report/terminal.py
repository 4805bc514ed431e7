"""A report on the terminal: the answer on one screen, and tables."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness import quantity
from harness.report import contributed, paper_claims, report_tables, run_answer
from harness.report.contributed import ContributedPoint
from harness.report.run_answer import WorkloadAnswer
from harness.report.summary import LOOP, Summary
from harness.report.text_table import NOTHING, TextTable, explanation
from harness.stats.doubts import ENOUGH_TRIALS
from harness.store.contribution import Contribution
from workloads import outside

_SHOWN_DOUBTS = 2
# Columns of tables where standard output is no terminal.
_WIDTH_ELSEWHERE = 180
_COLUMNS = ("against loop", "against best Ray", "ceiling", "starts", "doubts")


class _Output(Console):
    def on_broken_pipe(self) -> None:
        """Let the error pass: `main` ends the command, and its status says so."""
        raise  # noqa: PLE0704  # within the handler of the console


def output(width_elsewhere: int = _WIDTH_ELSEWHERE) -> Console:
    """The console for results. `width_elsewhere`: its columns where standard output is no terminal."""
    return _Output(width=None if sys.stdout.isatty() else width_elsewhere, highlight=False, markup=False)


def show_answer(summary: Summary, page: Path | None, console: Console) -> None:
    """Print two sentences, a row per workload, noise floor, failures, doubts, the report's place, the next command.

    `page`: None if the report could not be written.
    """
    found = run_answer.answers(summary)
    for sentence in run_answer.sentences(found, summary.cores):
        console.print(Text(sentence))
    if found:
        console.print()
        console.print(_answer_table(found))
        console.print(Text(explanation("screen"), style="dim"))
        if told := report_tables.doubts_told(found):
            console.print(Text(told, style="dim"))
    lines = list(_from_outside(summary))
    for line in lines:
        console.print(Text(line))
    if not found and not lines:
        console.print(Text("Nothing can be compared: the run has no reactors on all cores beside a loop or Ray."))
    console.print(Text(report_tables.floors(summary)))
    if failed := summary.failures:
        console.print(Text(f"Failed: {quantity.counted(len(failed), 'backend')} at some point; see the report."))
    for doubt in summary.doubts[:_SHOWN_DOUBTS]:
        console.print(Text(f"Doubt: {doubt}"))
    if page is not None:
        console.print(Text(f"Report: {page}"), soft_wrap=True)
    console.print(Text(f"Next: {_next_command(summary, found)}"), soft_wrap=True)


def _from_outside(summary: Summary) -> Iterator[str]:
    """A line for each backend from outside: how fast it is, and that it computes what the loop does."""
    names = dict.fromkeys(cell.backend for point in summary.points for cell in point.cells)
    for name in filter(outside.PLACES.__contains__, names):
        cells = [cell for point in summary.points if (cell := point.cell(name))]
        ratios = [cell.speedups[LOOP] for cell in cells if LOOP in cell.speedups]
        speed = (
            f"{paper_claims.range_of(ratios)} the speed of {LOOP}, with its digest" if ratios else "no ratio to a loop"
        )
        yield f"{name}: {speed}, at {len(ratios)} of {quantity.counted(len(cells), 'point')}"


def show_contributed(
    directory: Path, console: Console
) -> tuple[dict[Path, Contribution], list[ContributedPoint], Path | None]:
    """Print the tables of a directory of contributions, and draw their figure; these, their points, and its file."""
    found = contributed.read_all(directory)
    points = contributed.points(found.values())
    print_grid(contributed.table(points), console)
    print_grid(contributed.prediction_table(found.values()), console)
    from harness.report.figures import contributed_figures  # imports matplotlib

    return found, points, contributed_figures.draw(points, directory)


def _answer_table(found: Sequence[WorkloadAnswer]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    rows = [
        (f"{one.workload}\n{end.point.label}", report_tables.against(end.loop, "\n"),
         report_tables.against(end.ray, "\n"), report_tables.share(end), str(end.starts),
         ", ".join(end.doubts) or NOTHING)
        for one, end in ((one, one.weakest) for one in found)
    ]  # fmt: skip
    weakest = "weakest against Ray" if any(one.weakest.ray for one in found) else "weakest point"
    for position, column in enumerate((weakest, *_COLUMNS)):
        words = [word for cell in (column, *(row[position] for row in rows)) for word in cell.split()]
        table.add_column(column, min_width=max(map(len, words)), justify="right" if position in (3, 4) else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _next_command(summary: Summary, found: Sequence[WorkloadAnswer]) -> str:
    """The command that serves the reader most: complete the run, repeat it, or try an environment of their own."""
    resume = command("run", "--output", summary.path, "--resume")
    if summary.failures or any("--resume" in doubt for doubt in summary.doubts):
        return resume
    if (contribution := contributed.place(summary)).exists():
        return f"cp {shlex.quote(str(contribution))} results/contributed/   (then see docs/contributing.md)"
    if any(one.weakest.starts < ENOUGH_TRIALS for one in found):
        return f"{resume} --trials {ENOUGH_TRIALS}   (more starts)"
    return "make advise ENV=path/to/my_env.py:MyEnv ACTORS=16   (your own environment)"


def command(*words: object) -> str:
    """A command of the harness, as a reader types it in this directory."""
    return shlex.join([os.path.relpath(sys.executable), "-m", "harness", *map(str, words)])


def print_grid(grid: TextTable, console: Console) -> None:
    """Print a table."""
    table = Table(title=grid.title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for position, column in enumerate(grid.columns):
        table.add_column(column, justify="left" if position < 2 else "right", no_wrap=position == 0)
    for row in grid.rows:
        table.add_row(*map(Text, row))
    console.print(table)
