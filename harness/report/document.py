"""The parts of a report as text: sections and tables, which the terminal and the pages show alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import quantity
from harness.grouping import grouped
from harness.report import claims, noise_text, run_answer
from harness.report import scaling_text as scaling
from harness.report.run_answer import PointAnswer, WorkloadAnswer
from harness.report.summary import LIMIT, SIDE_METRICS, Cell, PointSummary, Summary
from harness.stats import intervals, limits, stragglers
from harness.stats.intervals import CONFIDENCE, Estimate
from harness.store.scaling_table import ScalingRow

FAILED, DOUBTED = "Failed", "Doubts about the whole run"
NOTHING = "-"
ANSWER_COLUMNS = ("workload", "point", "against the loop", "against the best Ray", "of the ceiling", "starts", "doubts")
ANSWER_EXPLAINED = (
    "How many times as fast reactors on all cores are, with 95 % intervals, at each workload's weakest and strongest "
    "point against the best Ray. The best Ray is chosen from the results, and its interval counts the choice. "
    "'undecided': the interval contains 1, the difference is below the noise floor, or there are too few starts to "
    "tell; of one or two starts an interval borrows from the run's other ratios, or is left out. 'starts': how often "
    "each side was started afresh. Every backend shown has the loop's digest: it did the same work."
)
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
    """What the tables do not say, in this order; empty sections are left out."""
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
        Section(FAILED, tuple(failed)),
        Section(DOUBTED, summary.doubts),
        Section(noise_text.HEADING, tuple(noise_text.lines(summary.noise))),
        Section(scaling.HEADING, tuple(scaling.lines(summary.scaling, summary.messages))),
        Section("Not run", tuple(unsupported)),
        Section("About the backends", tuple(f"{name}: {note}" for name, note in summary.notes.items())),
    ]
    return [section for section in sections if section.lines]


def _ratio(estimate: Estimate) -> str:
    return quantity.estimated(estimate, "x", beyond=intervals.FEW)


@dataclass(frozen=True)
class TextTable:
    """A table as text: the rows of one workload. `best`: indices of the rows that lead their point."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[int]


def answer_table(found: Sequence[WorkloadAnswer]) -> TextTable:
    """A row for the weakest and one for the strongest point of each workload; losses first."""
    rows = tuple(
        (
            one.workload if end is one.weakest else "",
            end.point.label + ("" if len(one.ends) == 1 else ", weakest" if end is one.weakest else ", strongest"),
            *answer_cells(end),
        )
        for one in found
        for end in one.ends
    )
    return TextTable(run_answer.HEADING, ANSWER_COLUMNS, rows, frozenset())


def answer_cells(end: PointAnswer) -> tuple[str, ...]:
    """A point against the loop and the best Ray, its part of the ceiling, its starts and its doubts."""
    return (
        NOTHING if end.loop is None else f"{quantity.ratio(end.loop.ratio)} {end.loop.standing}",
        NOTHING if end.ray is None else f"{quantity.ratio(end.ray.ratio)} {end.ray.standing}, {end.ray.rival}",
        NOTHING if end.ceiling is None else f"{end.ceiling.value:.0%}",
        str(end.starts),
        ", ".join(end.doubts) or NOTHING,
    )


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
            times = ("-" if one is None else value(Estimate(one, one, one, 1), "ns") for one in (half, middle, slow))
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
        *(f"x {'ceiling' if baseline == LIMIT else baseline}" for baseline in baselines),
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
    yield value(cell.main, point.units[point.metric]) if cell.main else missing
    for baseline in baselines:
        speedup = cell.speedups.get(baseline)
        yield _ratio(speedup) if speedup else ("1" if baseline == cell.backend and cell.main else "-")
    for name in sides:
        side = cell.side.get(name)
        yield value(side, point.units[name]) if side else "-"
    yield ", ".join((*cell.doubts, *(f"{len(cell.failures)} failed" for _ in cell.failures[:1])))


def value(estimate: Estimate, unit: str) -> str:
    """A number with its interval, in the unit that suits."""
    base = unit.partition("/")[0]
    # Nothing of the unit stands in the cells where the heading says it all.
    divisor, name = quantity.scale([estimate.value], base if quantity.has_prefixes(base) else "")
    text = quantity.estimated(estimate, beyond=intervals.FEW, write=lambda one: quantity.number(one / divisor))
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
