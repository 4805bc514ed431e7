"""The parts of README and of other pages that results fill, between markers. No number by hand.

`results`: one figure and one table. `claims`: the paper's claims and what was measured of them. `vectors`: vector
environments beside the loop.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from harness import quantity
from harness.errors import UsageError
from harness.quantity import counted
from harness.report import claims, document, verdict
from harness.report.summary import Cell, PointSummary, Summary
from harness.stats import noise_floor
from harness.stats.intervals import Estimate
from harness.store.measurements import write_atomically
from plots.figures import CAPTIONS
from workloads.catalogue import BACKENDS, WORKLOADS

_FIGURE, _VECTORS = "step_time", "vectors"
_LOOP = "serial"
_UNKNOWN = "–"


def marks(part: str) -> tuple[str, str]:
    """What stands before and after a part."""
    return f"<!-- {part}:begin -->", f"<!-- {part}:end -->"


def update(page: Path, summary: Summary, drawn: Sequence[Path]) -> None:
    """Put what a run says between the markers of a page. Raises UsageError where it lacks them."""
    try:
        text = page.read_bytes().decode()
    except UnicodeDecodeError:
        raise UsageError(f"{page}: not a text file in UTF-8") from None
    except OSError as error:
        raise UsageError(f"{page}: {error.strerror}; expected a file with the markers {_expected()}") from None
    there = [part for part in PARTS if any(mark in text for mark in marks(part))]
    if not there:
        raise UsageError(f"{page}: has no markers {_expected()} to put the results between")
    for part in there:
        begin, end = marks(part)
        before, _, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        if not ended or text.count(begin) != 1 or text.count(end) != 1:
            raise UsageError(f"{page}: expected {begin} and {end}, once each and in this order")
        text = f"{before}{begin}\n{PARTS[part](summary, drawn, page.parent)}{end}{after}"
    write_atomically(page, text.encode())


def _expected() -> str:
    return " or ".join(" and ".join(marks(part)) for part in PARTS)


def section(summary: Summary, drawn: Sequence[Path], base: Path) -> str:
    """The text between the markers; files are linked relative to `base`."""
    where = os.path.relpath(summary.path, base)
    parts = _pictures(_FIGURE, drawn, base)
    parts.append(document.markdown_table(table(summary)))
    measured = {cell.backend for point in summary.points for cell in point.cells}
    lacking = [name for name in BACKENDS if name.startswith(verdict.RAY) and name not in measured]
    without = f" Not measured then: {', '.join(lacking)}." if lacking else ""
    rays = "; ".join(f"`{name}` {BACKENDS[name].summary}" for name in BACKENDS
                     if name.startswith(verdict.RAY) and name in measured)  # fmt: skip
    told = f" Ray's backends: {rays}." if rays else ""
    parts.append(
        "A row is the point of its workload at which reactors lead Ray least; bold is the best of the three. In "
        "brackets: 95 % intervals, which count that the best Ray was chosen from the results, not that the point was. "
        "Undecided: equal speeds are not excluded, or too few trials to tell. `serial` is the plain loop, "
        f"`{verdict.parallel(summary)}` {BACKENDS[verdict.parallel(summary)].summary}.{told}{without} "
        f"[All numbers]({where}/report.md), measured on: "
        f"{document.markdown_text(f'{document.context(summary)[1]}.{_doubts(summary)}')} "
        f"This part is made by `python -m harness report {where} --readme README.md`."
    )
    return "\n\n".join(parts) + "\n"


def table(summary: Summary) -> document.TextTable:
    """A row for each workload, in the order of the catalogue; what was not measured is a dash."""
    ours = verdict.parallel(summary)
    ranks = {name: rank for rank, name in enumerate(WORKLOADS)}
    workloads = sorted({point.workload for point in summary.points}, key=lambda name: ranks.get(name, len(ranks)))
    floors = noise_floor.by_workload(summary.noise)
    rows = tuple(_row(_chosen(summary, name, ours), ours, floors.get(name, 1.0)) for name in workloads)
    return document.TextTable(
        "", ("workload", "point", _LOOP, ours, "best Ray", f"{ours} over best Ray"), rows, frozenset()
    )


def _chosen(summary: Summary, workload: str, ours: str) -> PointSummary:
    """The point at which our lead over the best Ray is the least; without any, the first."""
    points = [point for point in summary.points if point.workload == workload]

    def lead(point: PointSummary) -> float:
        told = verdict.best_ray(cell) if (cell := _cell(point, ours)) else None
        return told[0].value if told else float("inf")

    return min(points, key=lead)


def _row(point: PointSummary, ours: str, noise: float) -> tuple[str, ...]:
    own = _cell(point, ours)
    told = verdict.best_ray(own) if own else None
    ray = _cell(point, told[1]) if told else point.best(c for c in point.cells if c.backend.startswith(verdict.RAY))
    unit = point.units[point.metric]
    base = unit.partition("/")[0]
    what = f"{point.metric.replace('_', ' ')}, less is better" if quantity.has_prefixes(base) else unit
    shown = (_cell(point, _LOOP), own, ray)
    best = point.best(filter(None, shown))
    return (
        point.workload,
        f"{point.label}; {what}",
        *(f"**{_value(point, cell)}**" if cell and cell is best else _value(point, cell) for cell in shown[:2]),
        _of_ray(point, ray, best) if ray and ray.main else _UNKNOWN,
        _lead(told[0], noise) if told else _UNKNOWN,
    )


def _of_ray(point: PointSummary, ray: Cell, best: Cell | None) -> str:
    value = _value(point, ray)
    return f"{f'**{value}**' if ray is best else value} ({ray.backend})"


def _lead(ratio: Estimate, noise: float) -> str:
    if not ratio.decides:
        return f"{quantity.ratio(ratio)}, undecided ({counted(ratio.count, 'trial')})"
    return f"{quantity.ratio(ratio)}{', undecided' if verdict.undecided(ratio, noise) else ''}"


def _cell(point: PointSummary, backend: str) -> Cell | None:
    return next((cell for cell in point.cells if cell.backend == backend), None)


def _value(point: PointSummary, cell: Cell | None) -> str:
    if cell is None or cell.main is None:
        return _UNKNOWN
    unit = point.units[point.metric]
    return quantity.show(cell.main.value, unit) if quantity.has_prefixes(unit) else quantity.number(cell.main.value)


def claimed(summary: Summary, _drawn: Sequence[Path], _base: Path) -> str:
    """The paper's claims, and what was measured of each; a word where Ray was never called as the paper does."""
    grid = document.published_claims(summary)
    told = document.markdown_table(grid) if grid.rows else "The results have nothing to compare with `ray-paper`."
    doubts = document.markdown_text(_doubts(summary))
    return f"{told}\n\n{claims.EXPLAINED} Made by `make readme`, from the same rows as the figures.{doubts}\n"


def _doubts(summary: Summary) -> str:
    return f" Doubts: {'; '.join(summary.doubts)}." if summary.doubts else ""


def vectors(summary: Summary, drawn: Sequence[Path], base: Path) -> str:
    """How many times as fast as the loop each backend is, one row for each environment."""
    measured = {cell.backend for point in summary.points for cell in point.cells if cell.main}
    backends = [name for name in BACKENDS if name in measured and name != _LOOP]
    rows = tuple(
        (point.workload, point.label, *(_of_loop(_cell(point, backend)) for backend in backends))
        for point in summary.points
    )
    table = document.TextTable("", ("workload", "point", *backends), rows, frozenset())
    where = os.path.relpath(summary.path, base)
    machine = document.markdown_text(f"{document.context(summary)[1]}.{_doubts(summary)}")
    told = (
        f"In times the speed of `{_LOOP}`; in brackets: 95 % intervals. [All numbers, and what each is]"
        f"({where}/report.md), measured on: {machine} "
        "Made by `make readme`."
    )
    return "\n\n".join((*_pictures(_VECTORS, drawn, base), document.markdown_table(table), told)) + "\n"


def _of_loop(cell: Cell | None) -> str:
    ratio = cell.speedups.get(_LOOP) if cell else None
    return quantity.ratio(ratio) if ratio else _UNKNOWN


def _pictures(name: str, drawn: Sequence[Path], base: Path) -> list[str]:
    return [
        f"![{CAPTIONS[name]}]({os.path.relpath(path, base)})"
        for path in drawn
        if (path.stem, path.suffix) == (name, ".svg")
    ]


Part = Callable[[Summary, Sequence[Path], Path], str]
PARTS: dict[str, Part] = {"results": section, "claims": claimed, "vectors": vectors}
