"""The parts of README and of other pages that results fill, between markers (see `PARTS`). No number by hand."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness import quantity
from harness.errors import UsageError
from harness.report import (
    contributed,
    paper_claims,
    readme_claims,
    report_tables,
    run_answer,
    study_tables,
    system_costs,
    threads,
)
from harness.report.contributed import ContributedPoint
from harness.report.figures import figure_catalogue, figure_points
from harness.report.markdown import markdown_link, markdown_list, markdown_table, markdown_text
from harness.report.run_answer import Against, PointAnswer
from harness.report.summary import LOOP, RAY, RAY_PAPER, Cell, Summary, in_order
from harness.report.text_table import NOTHING, TextTable, explanation
from harness.stats import intervals
from harness.stats.judgement import FASTER, UNDECIDED
from harness.store.contribution import Contribution
from harness.store.files import write_atomically
from workloads.catalogue import BACKENDS, WORKLOADS

_EFFORT = ("workload", "starts", "time here", "memory", "reactors over ray-paper", "expected", "over the best Ray")


def marks(part: str) -> tuple[str, str]:
    """The markers before and after a part."""
    return f"<!-- {part}:begin -->", f"<!-- {part}:end -->"


def update(page: Path, summary: Summary, drawn: Mapping[str, Path]) -> None:
    """Put what a run says between the markers of a page. Raises UsageError where it lacks them."""
    fill(page, {name: partial(part, summary, drawn, page.parent) for name, part in PARTS.items()})


def fill(page: Path, parts: Mapping[str, Callable[[], str]]) -> None:
    """Put those parts into a page for which it has markers. Raises UsageError where it has none."""
    expected = " or ".join(" and ".join(marks(part)) for part in parts)
    try:
        text = page.read_bytes().decode()
    except UnicodeDecodeError:
        raise UsageError(f"{page}: not a text file in UTF-8") from None
    except OSError as error:
        raise UsageError(f"{page}: {error.strerror}; expected a file with the markers {expected}") from None
    there = [part for part in parts if any(mark in text for mark in marks(part))]
    if not there:
        raise UsageError(f"{page}: has no markers {expected} to put the results between")
    for part in there:
        begin, end = marks(part)
        before, _, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        if not ended or text.count(begin) != 1 or text.count(end) != 1:
            raise UsageError(f"{page}: expected {begin} and {end}, once each and in this order")
        text = f"{before}{begin}\n{parts[part]()}{end}{after}"
    write_atomically(page, text.encode())


def section(summary: Summary, drawn: Mapping[str, Path], base: Path) -> str:
    """The answer of a run and of that of the paper's points beside it; files are linked relative to `base`."""
    where = os.path.relpath(summary.path, base)
    runs = readme_claims.answered_by(summary)
    measured = {cell.backend for run in runs for point in run.points for cell in point.cells}
    rays = "; ".join(f"`{name}`: {BACKENDS[name].summary}" for name in in_order(measured) if name.startswith(RAY))
    answers = run_answer.answers(*runs)
    doubts = report_tables.doubts_told(answers)
    words = explanation(
        "readme", ours=summary.ours, our_summary=BACKENDS[summary.ours].summary, other_day=readme_claims.OTHER_DAY,
        few=intervals.FEW, floors=report_tables.floors(*runs), doubts=f" {doubts}" if doubts else "",
        runs=" and ".join(f"`{os.path.relpath(run.path, base)}`" for run in runs),
        rays=f" {rays[0].upper()}{rays[1:]}." if rays else "", sources=_source(base, *runs), where=where,
    )  # fmt: skip
    answer = " ".join(run_answer.sentences(answers, summary.cores))
    return _page(_picture("step_time", drawn, base), answer, markdown_table(table(*runs)), words)


def table(*summaries: Summary) -> TextTable:
    """The weakest and the strongest point of each workload over all runs, in the order of the catalogue."""
    ranks, ours = {name: rank for rank, name in enumerate(WORKLOADS)}, summaries[0].ours
    found = sorted(run_answer.answers(*summaries), key=lambda one: ranks.get(one.workload, len(ranks)))
    rows = tuple(_row(end, ours, one.workload, place) for one in found for place, end in one.placed)
    columns = ("workload", "point", LOOP, ours, "best Ray", f"over {LOOP}", "over best Ray", "starts; doubts")
    return TextTable("", columns, rows)


def _row(end: PointAnswer, ours: str, workload: str, place: str) -> tuple[str, ...]:
    point, unit = end.point, end.point.units[end.point.metric]
    base = unit.partition("/")[0]
    what = f"{point.metric.replace('_', ' ')}, less is better" if quantity.has_prefixes(base) else unit
    shown = [point.cell(name) for name in (LOOP, ours, end.ray.rival if end.ray else "")]
    best = point.best(filter(None, shown))
    loop, own, ray = (
        f"**{told}**" if cell and best and _is_among_best(end, best, cell, ours) else told
        for cell, told in ((cell, point.shown(cell, point.metric)) for cell in shown)
    )
    return (
        workload if place != "strongest" else "",
        f"{place and f'{place}: '}{point.label}; {what}",
        loop,
        own,
        f"{ray} ({end.ray.rival})" if end.ray else NOTHING,
        _lead(end.loop),
        _lead(end.ray),
        "; ".join(filter(None, (str(end.starts), ", ".join(end.doubts)))),
    )


def _is_among_best(end: PointAnswer, best: Cell, cell: Cell, ours: str) -> bool:
    """Whether a backend is the best at a point, or may be as fast as the best."""
    rival = cell.backend if best.backend == ours else best.backend
    ties = [one.rival for one in (end.loop, end.ray) if one and one.standing == UNDECIDED]
    return cell is best or (ours in (cell.backend, best.backend) and rival in ties)


def _lead(rival: Against | None) -> str:
    if rival is None:
        return NOTHING
    return quantity.ratio(rival.ratio) + ("" if rival.standing == FASTER else f", {rival.standing}")


def claimed(summary: Summary, _drawn: Mapping[str, Path], _base: Path) -> str:
    """The paper's claims beside the ratios measured, or a sentence where Ray was never called as in the paper.

    The row of threads comes from the run beside this one that has them.
    """
    grid = paper_claims.table(summary)
    of_threads = next(iter(readme_claims.beside(summary, "threads")), None)
    shown = replace(grid, rows=(*grid.rows, paper_claims.hypothesis(of_threads)))
    told = markdown_table(shown) if grid.rows else "The results have nothing to compare with `ray-paper`."
    doubts = f" {markdown_text(_doubts(summary))}".rstrip()
    return _page(told, f"{paper_claims.EXPLAINED} Made by `make readme`, from the same rows as the figures.{doubts}")


def effort(summary: Summary, _drawn: Mapping[str, Path], base: Path) -> str:
    """The effort and the expected ratios of each workload, for readers who measure it again.

    Time is that of all its points and backends, memory the most that a backend held. The ratios to Ray as the paper
    calls it are of the points with the lowest and the highest. The expected range is that of the claims.
    """
    rows: list[tuple[str, ...]] = []
    for workload in dict.fromkeys(point.workload for point in summary.points):
        trials = [trial for trial in summary.trials if trial.workload == workload]
        starts = Counter((trial.parameters, trial.backend) for trial in trials)
        memory = max((trial.peak_bytes or 0 for trial in trials), default=0)
        told = [quantity.duration_s(sum(trial.duration_s for trial in trials)), quantity.size(memory)]
        cells = [cell for point in summary.points if point.workload == workload and (cell := point.cell(summary.ours))]
        paper = [cell.speedups[RAY_PAPER] for cell in cells if RAY_PAPER in cell.speedups]
        best = [found[0] for cell in cells if (found := cell.best_ray) is not None]
        expected = " to ".join(map(quantity.times, readme_claims.expected(paper))) if paper else NOTHING
        ratios = paper_claims.range_of(paper), expected, paper_claims.range_of(best)
        rows.append((workload, quantity.from_to(starts.values()), *told, *ratios))
    return _page(
        markdown_table(TextTable("", _EFFORT, tuple(rows))), f"{_source(base, summary)} Made by `make readme`."
    )


def speeds(summary: Summary, drawn: Mapping[str, Path], base: Path) -> str:
    """How many times as fast as the loop each backend is, one row for each environment."""
    measured = in_order(cell.backend for point in summary.points for cell in point.cells if cell.main)
    backends = [name for name in measured if name in BACKENDS and name != LOOP]
    leads = [
        (point, {cell.backend: cell.speedups[LOOP] for cell in point.cells if LOOP in cell.speedups})
        for point in summary.points
    ]
    rows = tuple(
        (point.workload, point.label, *(quantity.ratio(own[name]) if name in own else NOTHING for name in backends))
        for point, own in leads
    )
    table = TextTable("", ("workload", "point", *backends), rows)
    ratios = [ratio for _, own in leads for ratio in own.values()]
    told = figure_points.starts_note(ratios, "brackets"), report_tables.floors(summary), _source(base, summary)
    words = " ".join(filter(None, (f"Speed relative to `{LOOP}`; higher is better.", *told, "Made by `make readme`.")))
    pictures = (_picture(name, drawn, base) for name in ("vectors", "actor_systems"))
    return _page(*pictures, markdown_table(table), words)


def systems(summary: Summary, drawn: Mapping[str, Path], base: Path) -> str:
    """Reactors and actor systems: where reactors lose, the speed of each at each point, and what each costs."""
    shown = [part for table in system_costs.tables(summary) for part in (f"{table.title}:", markdown_table(table))]
    return _page(markdown_list(system_costs.losses(summary)), speeds(summary, drawn, base).rstrip(), *shown)


def without_a_gil(summary: Summary, drawn: Mapping[str, Path], base: Path) -> str:
    """Threads without a GIL beside processes of the same interpreter and Ray: speeds, memory and start-up."""
    shown = [
        part for table in threads.tables(summary) if table.rows for part in (f"{table.title}:", markdown_table(table))
    ]
    lacking = "".join(
        f"`{workload}` could not run: {markdown_text(reason)}. "
        for workload, reason in threads.unsupported(summary).items()
    )
    words = explanation("threads", lacking=lacking, source=_source(base, summary))
    return _page(markdown_list(threads.losses(summary)), _picture("threads", drawn, base), *shown, words)


def _page(*parts: str) -> str:
    """The parts that there are, each a paragraph, a table or a picture."""
    return "\n\n".join(filter(None, parts)) + "\n"


def _source(base: Path, *runs: Summary) -> str:
    """Where all numbers are, and on which machine they were measured."""
    return " ".join(
        f"{markdown_link('All numbers', run.path / 'report.md', base)}, measured on: "
        + markdown_text(f"{report_tables.context(run)[1]}.{_doubts(run)}")
        for run in runs
    )


def _doubts(summary: Summary) -> str:
    return f" Doubts: {'; '.join(summary.doubts)}." if summary.doubts else ""


def _picture(name: str, drawn: Mapping[str, Path], base: Path) -> str:
    caption = figure_catalogue.FIGURES[name][0]
    return f"!{markdown_link(caption, drawn[name], base)}" if name in drawn else ""


def artifact(summary: Summary, _drawn: Mapping[str, Path], base: Path) -> str:
    """The claims that `claim` measures."""
    runs = readme_claims.answered_by(summary)
    return _page(markdown_table(readme_claims.table(readme_claims.claims(*runs))), _source(base, *runs))


def scaling(summary: Summary, _drawn: Mapping[str, Path], base: Path) -> str:
    """The speed-up of each traced point, predicted for up to 64 workers."""
    table = markdown_table(study_tables.prediction_table(summary.scaling)) if summary.scaling else "Not predicted."
    return _page(table, _source(base, summary))


def contributions(
    found: Mapping[Path, Contribution], points: Sequence[ContributedPoint], drawn: Path | None, base: Path
) -> str:
    """The speed-up by cores of all contributed files."""
    if not found:
        return "No file yet.\n"
    picture = f"!{markdown_link(contributed.CAPTION, drawn, base)}" if drawn else ""
    files = ", ".join(
        f"{markdown_link(path.stem, path, base)} (commit {markdown_text(one.commit[:12])})"
        for path, one in found.items()
    )
    words = f"{contributed.EXPLAINED} Files: {files}. Made by `make readme`."
    tables = contributed.table(points), contributed.prediction_table(found.values())
    return _page(picture, *map(markdown_table, tables), words)


PARTS: dict[str, Callable[[Summary, Mapping[str, Path], Path], str]] = {
    "results": section,
    "claims": claimed,
    "effort": effort,
    "speeds": speeds,
    "systems": systems,
    "threads": without_a_gil,
    "artifact": artifact,
    "scaling": scaling,
}
