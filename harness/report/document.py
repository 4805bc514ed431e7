"""The report of a results directory, for the terminal and as Markdown, from one summary.

Says first where a baseline beats the reactor runtime, then where nothing is decided, then everything.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness import quantity
from harness.grouping import grouped
from harness.report import claims, matrix, noise_text, verdict
from harness.report import scaling_text as scaling
from harness.report.summary import LIMIT, OURS, SIDE_METRICS, Cell, PointSummary, Summary, Verdict
from harness.stats import intervals, limits, stragglers
from harness.stats.doubts import DOUBTS_EXPLAINED
from harness.stats.intervals import CONFIDENCE, Estimate
from harness.store.measurements import write_atomically
from harness.store.scaling_table import ScalingRow

MARKDOWN_NAME = "report.md"
# Baselines with a column of their own; the others are in the lines above the tables.
_SHOWN_BASELINES = ("serial", "ray-paper", "ray-tuned", "ray-pooled", "ray-compiled", LIMIT)
TAIL_COLUMNS = ("point", "backend", "50 % within", "95 % within", "99 % within", "99 % / 50 %")
_SIDE_HEADINGS = {"startup_time": "startup", "peak_rss": "memory", "cpu_time": "CPU"}
EXPLAINED = (
    f"Values are geometric means over trials with {CONFIDENCE:.0%} intervals (Student's t over trials, each a block of "
    "turns in fresh processes). 'x': how many times as fast "
    "as that baseline (more than 1: faster), from turns taken beside each other, with its interval; of "
    "CPU time, where both run in one thread, for there what other processes take says nothing. "
    "'50 % within': the time that half of the rounds do not exceed, a geometric mean over trials. "
    "'undecided': the interval contains 1, or the difference is within the noise floor. "
    f"{limits.EXPLAINED} "
    "'startup': until the first round can begin. 'memory': the most that the whole process tree held, shared "
    "pages counted once. 'CPU': time of the whole process tree per unit of work."
)


def explained(summary: Summary) -> str:
    """What the tables' words mean."""
    late = any(cell.late for point in summary.points for cell in point.cells)
    return f"{EXPLAINED} {stragglers.EXPLAINED}" if late else EXPLAINED


@dataclass(frozen=True)
class Section:
    """A heading with lines below it."""

    heading: str
    lines: tuple[str, ...]


def headlines(summary: Summary) -> list[Section]:
    """What has to be said before the tables, in this order; empty sections are left out."""
    slower = [one for one in summary.verdicts if one.slower]
    undecided = [one for one in summary.verdicts if not one.slower and not one.faster]
    faster = [one for one in summary.verdicts if one.faster]
    failed = [
        f"{point.workload} {point.label}, {cell.backend}: {failure}"
        for point, cell in summary.failures
        for failure in cell.failures
    ]
    unsupported = [
        f"{point.workload} {point.label}, {cell.backend}: {cell.unsupported}"
        for point in summary.points
        for cell in point.cells
        if cell.unsupported
    ]
    sections = [
        Section("Failed", tuple(failed)),
        Section("Doubts about the whole run", summary.doubts),
        Section("Where the reactor runtime is slower", tuple(_lines(slower))),
        Section("Where no difference is shown", tuple(_lines(undecided))),
        Section("Where the reactor runtime is faster", tuple(_lines(faster))),
        Section("Verdict in sentences", tuple(verdict.sentences(summary))),
        Section("How near the reactor runtime comes to the limit", tuple(_shares(summary.points))),
        Section(noise_text.HEADING, tuple(noise_text.lines(summary.noise))),
        Section(scaling.HEADING, tuple(scaling.lines(summary.scaling, summary.messages))),
        Section("Not run", tuple(unsupported)),
        Section("About the backends", tuple(f"{name}: {note}" for name, note in summary.notes.items())),
    ]
    return [section for section in sections if section.lines]


def _lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """One line for each of our backends at each point, with all the baselines it is compared to."""
    cells = grouped(verdicts, lambda one: (one.workload, one.label, one.backend))
    for (workload, label, backend), group in cells.items():
        ratios = ", ".join(f"{_ratio(one.speedup)} that of {one.baseline}" for one in group)
        within = [
            f"{one.baseline} within the noise floor of {noise_text.percent(one.floor)}" for one in group if one.within
        ]
        doubts = f" ({', '.join((*group[0].doubts, *within))})" if group[0].doubts or within else ""
        yield f"{workload} {label}: speed of {backend} is {ratios}{doubts}"


def _shares(points: Sequence[PointSummary]) -> Iterator[str]:
    """One line for each point, with the speed of our backends as a part of the limit's."""
    for point in points:
        shares = [
            f"{cell.backend} {_ratio(cell.speedups[LIMIT])}"
            for cell in point.cells
            if cell.backend.startswith(OURS) and LIMIT in cell.speedups
        ]
        if shares:
            yield f"{point.workload} {point.label}: {', '.join(shares)}"


def _ratio(estimate: Estimate) -> str:
    return quantity.estimated(estimate, "x", beyond=intervals.FEW)


@dataclass(frozen=True)
class TextTable:
    """A table as text: the rows of one workload. `best`: indices of the rows that lead their point."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[int]


def verdicts(summary: Summary) -> TextTable:
    """The verdict as a table, without rows where nothing can be compared."""
    rows = tuple(tuple(matrix.cells(row)) for row in matrix.rows(summary))
    return TextTable(matrix.HEADING, matrix.HEADINGS, rows, frozenset())


def published_claims(summary: Summary) -> TextTable:
    """The paper's claims as a table, without rows where Ray was not called as the paper does."""
    return TextTable(claims.HEADING, claims.HEADINGS, tuple(map(claims.cells, claims.rows(summary))), frozenset())


def tables(summary: Summary) -> list[TextTable]:
    """One table per workload, and that of the scaling where it was measured."""
    found = []
    for workload, points in grouped(summary.points, lambda point: point.workload).items():
        compared = {name for point in points for cell in point.cells for name in cell.speedups}
        found.append(_table(workload, points, [name for name in _SHOWN_BASELINES if name in compared]))
        if any(cell.tails or cell.late for point in points for cell in point.cells):
            found.append(_tails_table(workload, points))
    return [*found, scaling_table(summary.scaling)] if summary.scaling else found


def _tails_table(workload: str, points: Sequence[PointSummary]) -> TextTable:
    """Round times of each backend: the usual, and the slow ones; and whom they waited for, where that is known."""
    taken_apart = any(cell.late for point in points for cell in point.cells)
    rows = []
    for point in points:
        cells = [cell for cell in point.cells if cell.tails or cell.late]
        for position, cell in enumerate(cells):
            half, middle, slow = cell.tails or (None, None, None)
            times = ("-" if one is None else _value(Estimate(one, one, one, 1), "ns") for one in (half, middle, slow))
            ratio = f"{slow / half:.2f}x" if slow and half else "-"
            late = (cell.late.cells if cell.late else ("-", "-")) if taken_apart else ()
            rows.append((point.label if position == 0 else "", cell.backend, *times, ratio, *late))
    columns = (*TAIL_COLUMNS, *(stragglers.COLUMNS if taken_apart else ()))
    return TextTable(f"{workload}: round times", columns, tuple(rows), frozenset())


def scaling_table(rows: Sequence[ScalingRow]) -> TextTable:
    """Predicted and measured scaling of all points."""
    return TextTable(scaling.TITLE, scaling.COLUMNS, tuple(scaling.cells(rows)), frozenset())


def _table(workload: str, points: Sequence[PointSummary], baselines: Sequence[str]) -> TextTable:
    metric = points[0].metric
    units = points[0].units
    sides = [name for name in SIDE_METRICS if any(name in cell.side for point in points for cell in point.cells)]
    columns = (
        "point",
        "backend",
        _heading(metric, units[metric]),
        *(f"x {baseline}" for baseline in baselines),
        *(_heading(_SIDE_HEADINGS[name], units[name]) for name in sides),
        "doubts",
    )
    rows: list[tuple[str, ...]] = []
    best: set[int] = set()
    for point in points:
        leader = point.best(cell for cell in point.cells if not limits.is_limit(cell.backend))
        for position, cell in enumerate(point.cells):
            if cell is leader:
                best.add(len(rows))
            label = point.label if position == 0 else ""
            rows.append((label, cell.backend, *_cells(point, cell, baselines, sides)))
    return TextTable(workload, columns, tuple(rows), frozenset(best))


def _heading(name: str, unit: str) -> str:
    """A column's heading, with as much of the unit as is the same in every cell."""
    base, slash, per = unit.partition("/")
    words = name.replace("_", " ")
    if not quantity.has_prefixes(base):
        return f"{words} ({unit})"
    return f"{words} per {per}" if slash else words


def _cells(point: PointSummary, cell: Cell, baselines: Sequence[str], sides: Sequence[str]) -> Iterator[str]:
    missing = "not run" if cell.unsupported else "failed"
    yield _value(cell.main, point.units[point.metric]) if cell.main else missing
    for baseline in baselines:
        speedup = cell.speedups.get(baseline)
        yield _ratio(speedup) if speedup else ("1" if baseline == cell.backend and cell.main else "-")
    for name in sides:
        side = cell.side.get(name)
        yield _value(side, point.units[name]) if side else "-"
    yield ", ".join((*cell.doubts, *(f"{len(cell.failures)} failed" for _ in cell.failures[:1])))


def _value(estimate: Estimate, unit: str) -> str:
    base = unit.partition("/")[0]
    # Nothing of the unit stands in the cells where the heading says it all.
    divisor, name = quantity.scale([estimate.value], base if quantity.has_prefixes(base) else "")
    text = quantity.estimated(estimate, beyond=intervals.FEW, write=lambda value: quantity.number(value / divisor))
    return f"{text} {name}" if name else text


def context(summary: Summary) -> list[str]:
    """Where the numbers come from, in a few lines."""
    described = summary.machine
    cpu, interpreter = described.get("cpu", {}), described.get("interpreter", {})
    packages = ", ".join(f"{name} {version}" for name, version in described.get("packages", {}).items())
    cores, memory_gib = described.get("cores_allowed", "?"), described.get("memory_gib", "?")
    lines = [
        f"{summary.path}: {len(summary.rows)} rows",
        f"{cpu.get('model', 'unknown CPU')}, {cores} cores, {memory_gib} GiB, {described.get('kernel', '?')}",
        f"{interpreter.get('implementation', '?')} {interpreter.get('version', '?')}; {packages}",
    ]
    for session in described.get("sessions", [])[:1]:
        commit = (session.get("commit") or "unknown")[:12]
        lines.append(f"{' '.join(session.get('command', []))} (commit {commit}, {session.get('started_at')})")
    return lines


def to_terminal(summary: Summary, console: Console) -> None:
    """Print the report."""
    for line in context(summary):
        console.print(Text(line, style="dim"))
    if (judged := verdicts(summary)).rows:
        console.print()
        print_grid(judged, console)
        console.print(Text(" ".join(matrix.WORDS), style="dim"))
    if (claimed := published_claims(summary)).rows:
        console.print()
        print_grid(claimed, console)
        console.print(Text(claims.EXPLAINED, style="dim"))
    for section in headlines(summary):
        console.print()
        console.print(Text(section.heading, style="bold"))
        for line in section.lines:
            console.print(Text(f"  {line}"), soft_wrap=True)
    for grid in tables(summary):
        console.print()
        print_grid(grid, console)
    console.print()
    console.print(Text(f"{explained(summary)} Bold: best of its point. {DOUBTS_EXPLAINED}", style="dim"))


def print_grid(grid: TextTable, console: Console) -> None:
    """Print a table, the best of each point in bold."""
    table = Table(title=grid.title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for position, column in enumerate(grid.columns):
        table.add_column(column, justify="left" if position < 2 else "right", overflow="fold")
    for number, row in enumerate(grid.rows):
        if row[0] and number:
            table.add_section()
        table.add_row(*map(Text, row), style="bold" if number in grid.best else None)
    console.print(table)


def to_markdown(summary: Summary) -> str:
    """The report as a page."""
    parts = ["# Comparison", markdown_list(context(summary))]
    if (judged := verdicts(summary)).rows:
        parts += [f"## {judged.title}", markdown_table(judged), markdown_list(matrix.WORDS)]
    if (claimed := published_claims(summary)).rows:
        parts += [f"## {claimed.title}", markdown_table(claimed), markdown_text(claims.EXPLAINED)]
    for section in headlines(summary):
        parts += [f"## {section.heading}", markdown_list(section.lines)]
    for grid in tables(summary):
        parts += [f"## {markdown_text(grid.title)}", markdown_table(grid)]
    parts += [f"{explained(summary)} Bold: best of its point.", DOUBTS_EXPLAINED]
    return "\n\n".join(parts) + "\n"


def markdown_text(text: str) -> str:
    """What a file says, as a page shows it letter by letter: no tag, no link, no end of a line or of a cell."""
    return escape(" ".join(text.split()), quote=False).replace("](", "]\\(").replace("|", "\\|")


def markdown_list(lines: Iterable[str]) -> str:
    """A list in Markdown."""
    return "\n".join(f"- {markdown_text(line)}" for line in lines)


def markdown_table(grid: TextTable) -> str:
    """A table in Markdown, the best of each point in bold."""
    rule = ["---" if position < 2 else "---:" for position in range(len(grid.columns))]
    lines = [tuple(map(markdown_text, grid.columns)), rule]
    for number, row in enumerate(grid.rows):
        cells = map(markdown_text, row)
        lines.append(
            tuple(f"**{cell}**" if number in grid.best and at in (1, 2) else cell for at, cell in enumerate(cells))
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def to_json(summary: Summary) -> dict[str, Any]:
    """The report for programs."""
    return {
        "path": str(summary.path),
        "points": [
            {
                "workload": point.workload,
                "label": point.label,
                "metric": point.metric,
                "unit": point.units[point.metric],
                "backends": {cell.backend: _cell_json(cell) for cell in point.cells},
            }
            for point in summary.points
        ],
        "doubts": list(summary.doubts),
        "noise": [dataclasses.asdict(one) for one in summary.noise],
        "scaling": [dataclasses.asdict(row) for row in summary.scaling],
        "messages": [dataclasses.asdict(row) for row in summary.messages],
    }


def _cell_json(cell: Cell) -> dict[str, Any]:
    return {
        "mean": dataclasses.asdict(cell.main) if cell.main else None,
        "speedups": {name: dataclasses.asdict(speedup) for name, speedup in cell.speedups.items()},
        **{name: side.value for name, side in cell.side.items()},
        "intervals": {name: [side.low, side.high] for name, side in cell.side.items()},
        "doubts": list(cell.doubts),
        "failures": list(cell.failures),
    }


def write_markdown(summary: Summary) -> Path:
    """Write `report.md` into the results directory; returns its path. Raises OSError."""
    path = summary.path / MARKDOWN_NAME
    write_atomically(path, to_markdown(summary).encode())
    return path
