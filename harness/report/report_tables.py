"""The parts of a report as text: sections and tables, which the terminal and the pages show alike."""

from collections.abc import Iterator, Sequence

from harness import quantity
from harness.grouping import grouped
from harness.report import run_answer, study_tables
from harness.report.run_answer import Against, PointAnswer, WorkloadAnswer
from harness.report.summary import LOOP, RAY_PAPER, SIDE_METRICS, Cell, PointSummary, Summary
from harness.report.text_table import NOTHING, TextTable, explanation
from harness.stats import intervals, reference_ceiling
from harness.stats.doubts import ENOUGH_TRIALS, MEANINGS
from harness.stats.intervals import CONFIDENCE, Estimate
from harness.stats.judgement import FASTER, SLOWER
from harness.stats.reference_ceiling import CEILING
from harness.store import machine

FAILED, DOUBTED, NOISE = "Failed", "Doubts about the whole run", "Noise floor"
URGENT = (FAILED, DOUBTED)
NOT_MEASURED = "not measured: no backend of this run was measured twice in one block"
ANSWER_COLUMNS = ("workload", "point", "against the loop", "against the best Ray", "of the ceiling", "starts", "doubts")
ANSWER_EXPLAINED = explanation("answer", few=intervals.FEW)
# Baselines with a column of their own.
_SHOWN_BASELINES = (LOOP, RAY_PAPER, "ray-pooled", "ray-pooled-compiled", CEILING)
TAIL_COLUMNS = ("point", "backend", "50 % within", "95 % within", "99 % within", "99 % / 50 %")
_SIDE_HEADINGS = {"startup_time": "startup", "peak_rss": "memory", "cpu_time": "CPU"}
EXPLAINED = explanation("tables", confidence=100 * CONFIDENCE, trials=ENOUGH_TRIALS, **MEANINGS)


def headlines(summary: Summary) -> dict[str, list[str]]:
    """The sections beside the tables, in order, without empty ones: lines by heading."""
    cells = [(f"{point.name}, {cell.backend}", cell) for point in summary.points for cell in point.cells]
    scaling = [*study_tables.message_costs(summary.messages), study_tables.SCALING_EXPLAINED]
    sections = {
        FAILED: [f"{where}: {failure}" for where, cell in cells for failure in cell.failures],
        DOUBTED: list(summary.doubts),
        NOISE: list(_noise(summary)),
        "Scaling with workers, explained": scaling if summary.scaling else [],
        "Not run": [f"{where}: {cell.unsupported}" for where, cell in cells if cell.unsupported],
        "About the backends": [f"{name}: {note}" for name, note in summary.notes.items()],
    }
    return {heading: lines for heading, lines in sections.items() if lines}


def _noise(summary: Summary) -> Iterator[str]:
    for one in summary.noise:
        starts = quantity.counted(one.ratio.count, "start")
        yield (
            f"{one.point}, {one.backend} against itself, {starts}: the ratio is off by "
            f"{percent(one.distance)}. Its interval reaches {percent(one.half_width)} to either side and "
            f"{'contains' if one.contains_one else 'does not contain'} 1"
        )
    yield f"differences of less than {percent(summary.floor)} are called undecided" if summary.noise else NOT_MEASURED


def percent(factor: float) -> str:
    """A factor of at least 1 as the part by which it differs from 1; a large one as a factor."""
    if factor >= 2:
        return f"a factor of {factor:.2g}"
    part = (factor - 1) * 100
    return f"{part:.1f} %" if part < 10 else f"{part:.0f} %"


def answer_table(found: Sequence[WorkloadAnswer]) -> TextTable:
    """A row for the weakest and one for the strongest point of each workload; losses first."""
    rows = tuple(
        (one.workload if not place or place == "weakest" else "", ", ".join(filter(None, (end.point.label, place))),
         against(end.loop), against(end.ray), share(end), str(end.starts), ", ".join(end.doubts) or NOTHING)
        for one in found
        for place, end in one.placed
    )  # fmt: skip
    return TextTable(run_answer.HEADING, ANSWER_COLUMNS, rows)


def against(one: Against | None, space: str = " ") -> str:
    """A ratio, how it stands, and the rival where it is not the loop."""
    if one is None:
        return NOTHING
    than = " than" if one.standing in (FASTER, SLOWER) else ","
    rival = "" if one.rival == LOOP else f"{than} {one.rival}"
    return f"{quantity.ratio(one.ratio)}{space}{one.standing}{rival}"


def floors(*summaries: Summary) -> str:
    """The rule by which a difference is undecided, with the noise floors of the runs."""
    known = [summary for summary in summaries if summary.noise]
    if not known:
        return f"Noise floor: {NOT_MEASURED}."
    told = quantity.from_to((summary.floor for summary in known), percent)
    of_runs = ", of each run its own" if len(known) > 1 else ""
    meaning = "Copies of one backend differed by this much, so smaller differences are undecided."
    return f"Noise floor: {told}{of_runs}. {meaning}"


def doubts_told(found: Sequence[WorkloadAnswer]) -> str:
    """The meaning of the doubts about the answers; empty where there is none."""
    kinds = {kind for one in found for _, end in one.placed for kind in end.doubts}
    return " ".join(f"'{kind}': {meaning}." for kind, meaning in MEANINGS.items() if kind in kinds)


def share(end: PointAnswer) -> str:
    """The part of the ceiling that is reached."""
    return NOTHING if end.ceiling is None else f"{end.ceiling.value:.0%}"


def tables(summary: Summary) -> list[TextTable]:
    """One table per workload, and that of the scaling where it was measured."""
    found = []
    for workload, points in grouped(summary.points, lambda point: point.workload).items():
        found.append(_table(workload, points))
        if any(cell.tails for point in points for cell in point.cells):
            found.append(_tails_table(workload, points))
    return [*found, study_tables.scaling_table(summary.scaling)] if summary.scaling else found


def _tails_table(workload: str, points: Sequence[PointSummary]) -> TextTable:
    """Round times of each backend: the usual, and the slow ones."""
    rows = []
    for point in points:
        for position, cell in enumerate(cell for cell in point.cells if cell.tails):
            half, _, slow = cell.tails
            times = (NOTHING if one is None else quantity.show(one, "ns") for one in cell.tails)
            ratio = f"{slow / half:.2f}x" if slow and half else NOTHING
            rows.append(("" if position else point.label, cell.backend, *times, ratio))
    return TextTable(f"{workload}: round times", TAIL_COLUMNS, tuple(rows))


def _table(workload: str, points: Sequence[PointSummary]) -> TextTable:
    metric = points[0].metric
    units = {name: unit for point in points for name, unit in point.units.items()}
    every = [cell for point in points for cell in point.cells]
    baselines = [name for name in _SHOWN_BASELINES if any(name in cell.speedups for cell in every)]
    sides = [name for name in SIDE_METRICS if any(name in cell.metrics for cell in every)]
    headings = (heading(_SIDE_HEADINGS[name], units[name]) for name in sides)
    speedups = (f"x {baseline}" for baseline in baselines)
    columns = ("point", "backend", heading(metric, units[metric]), *speedups, *headings, "doubts")
    rows: list[tuple[str, ...]] = []
    best: set[int] = set()
    for point in points:
        leader = point.best(cell for cell in point.cells if not reference_ceiling.is_limit(cell.backend))
        for position, cell in enumerate(point.cells):
            if cell is leader:
                best.add(len(rows))
            rows.append(("" if position else point.label, cell.backend, *_cells(point, cell, baselines, sides)))
    return TextTable(workload, columns, tuple(rows), frozenset(best))


def heading(name: str, unit: str) -> str:
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
        text = "1" if baseline == cell.backend and cell.main else NOTHING
        yield quantity.estimated(speedup, "x") if speedup else text
    for name in sides:
        side = cell.metrics.get(name)
        yield value(side, point.units[name]) if side else NOTHING
    yield ", ".join((*cell.doubts, *(f"{len(cell.failures)} failed" for _ in cell.failures[:1])))


def value(estimate: Estimate, unit: str) -> str:
    """A number with its interval, in the unit that suits."""
    base = unit.partition("/")[0]
    # Nothing of the unit stands in the cells where the heading says it all.
    divisor, name = quantity.scale(estimate.value, base if quantity.has_prefixes(base) else "")
    text = quantity.estimated(estimate, write=lambda one: quantity.number(one / divisor))
    return f"{text} {name}" if name else text


def context(summary: Summary) -> list[str]:
    """Where the numbers come from, in a few lines."""
    described = summary.machine
    cpu, interpreter = described.get("cpu", {}), described.get("interpreter", {})
    packages = ", ".join(f"{name} {version}" for name, version in described.get("packages", {}).items())
    cores = f"{described.get('cores_allowed', '?')} cores{machine.sharing(described)}"
    memory_gib = described.get("memory_gib", "?")
    lines = [
        f"{summary.path}: {len(summary.rows)} rows",
        f"{cpu.get('model', 'unknown CPU')}, {cores}, {memory_gib} GiB, {described.get('kernel', '?')}",
        f"{interpreter.get('implementation', '?')} {interpreter.get('version', '?')}; {packages}",
    ]
    for session in described.get("sessions", [])[:1]:
        commit = (session.get("commit") or "unknown")[:12]
        lines.append(f"{' '.join(session.get('command', []))} (commit {commit}, {session.get('started_at')})")
    return lines
