"""The parts of README and of other pages that results fill, between markers. No number by hand.

`results`: one figure and one table. `claims`: the paper's claims and what was measured of them. `vectors`: vector
environments beside the loop.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from harness import quantity
from harness.errors import UsageError
from harness.report import claims, document, run_answer, verdict
from harness.report.markdown import markdown_table, markdown_text
from harness.report.run_answer import Against, PointAnswer
from harness.report.summary import Cell, PointSummary, Summary
from harness.stats.judgement import UNDECIDED
from harness.store.files import write_atomically
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
    parts.append(markdown_table(table(summary)))
    measured = {cell.backend for point in summary.points for cell in point.cells}
    lacking = [name for name in BACKENDS if name.startswith(verdict.RAY) and name not in measured]
    without = f" Not measured then: {', '.join(lacking)}." if lacking else ""
    rays = "; ".join(f"`{name}` {BACKENDS[name].summary}" for name in BACKENDS
                     if name.startswith(verdict.RAY) and name in measured)  # fmt: skip
    told = f" Ray's backends: {rays}." if rays else ""
    parts.append(
        "A workload has its weakest and its strongest point of the run, by the lead over Ray; bold is the best of the "
        "three. In brackets: 95 % intervals, which count that the best Ray was chosen from the results, not that the "
        "point was. Starts: how often each was started afresh. Undecided: equal speeds are not excluded, "
        "or too few trials to tell. `serial` is the plain loop, "
        f"`{verdict.parallel(summary)}` {BACKENDS[verdict.parallel(summary)].summary}.{told}{without} "
        f"[All numbers]({where}/report.md), measured on: "
        f"{markdown_text(f'{document.context(summary)[1]}.{_doubts(summary)}')} "
        f"This part is made by `python -m harness report {where} --readme README.md`."
    )
    return "\n\n".join(parts) + "\n"


def table(summary: Summary) -> document.TextTable:
    """The weakest and the strongest point of each workload, in the order of the catalogue."""
    ours = verdict.parallel(summary)
    ranks = {name: rank for rank, name in enumerate(WORKLOADS)}
    found = sorted(run_answer.answers(summary), key=lambda one: ranks.get(one.workload, len(ranks)))
    rows = tuple(
        _row(end, ours, one.workload, "" if len(one.ends) == 1 else "weakest" if end is one.weakest else "strongest")
        for one in found
        for end in one.ends
    )
    columns = ("workload", "point", _LOOP, ours, "best Ray", f"{ours} over best Ray", "starts")
    return document.TextTable("", columns, rows, frozenset())


def _row(end: PointAnswer, ours: str, workload: str, place: str) -> tuple[str, ...]:
    point, unit = end.point, end.point.units[end.point.metric]
    base = unit.partition("/")[0]
    what = f"{point.metric.replace('_', ' ')}, less is better" if quantity.has_prefixes(base) else unit
    ray = _cell(point, end.ray.rival) if end.ray else None
    shown = (_cell(point, _LOOP), _cell(point, ours), ray)
    best = point.best(filter(None, shown))
    return (
        workload if place != "strongest" else "",
        f"{place and f'{place}: '}{point.label}; {what}",
        *(f"**{_value(point, cell)}**" if cell and cell is best else _value(point, cell) for cell in shown[:2]),
        _of_ray(point, ray, best) if ray and ray.main else _UNKNOWN,
        _lead(end.ray) if end.ray else _UNKNOWN,
        str(end.starts),
    )


def _of_ray(point: PointSummary, ray: Cell, best: Cell | None) -> str:
    value = _value(point, ray)
    return f"{f'**{value}**' if ray is best else value} ({ray.backend})"


def _lead(ray: Against) -> str:
    return quantity.ratio(ray.ratio) + (f", {UNDECIDED}" if ray.standing == UNDECIDED else "")


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
    told = markdown_table(grid) if grid.rows else "The results have nothing to compare with `ray-paper`."
    doubts = markdown_text(_doubts(summary))
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
    machine = markdown_text(f"{document.context(summary)[1]}.{_doubts(summary)}")
    told = (
        f"In times the speed of `{_LOOP}`; in brackets: 95 % intervals. [All numbers, and what each is]"
        f"({where}/report.md), measured on: {machine} "
        "Made by `make readme`."
    )
    return "\n\n".join((*_pictures(_VECTORS, drawn, base), markdown_table(table), told)) + "\n"


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
