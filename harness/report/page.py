"""The report as one self-contained HTML page: opens from disk, needs no network."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness import quantity
from harness.grouping import grouped
from harness.report import claims, document, run_answer
from harness.report.figures import figure_catalogue
from harness.report.run_answer import Against, WorkloadAnswer
from harness.report.summary import LOOP, OURS, Cell, PointSummary, Summary
from harness.report.text_table import NOTHING
from harness.stats import intervals
from harness.stats.limits import LIMIT
from harness.store.files import write_atomically

PAGE_NAME = "report.html"
QUESTION = (
    "Does a fixed communication pattern, compiled before the run, beat Ray's actors for parallel reinforcement "
    "learning on one multi-core machine, and how near does it come to what the machine can do at all?"
)
_TEMPLATES = Path(__file__).parent / "templates"
_FIRST_FIGURES = ("step_time", "hardware_limit")
_COLUMNS = ("backend", "x loop", "of the ceiling", "doubts")


def write(summary: Summary, drawn: Mapping[str, Path]) -> Path:
    """Write `report.html` into the results directory, with the figures that were drawn in it; returns its path."""
    path = summary.path / PAGE_NAME
    write_atomically(path, render(summary, drawn).encode())
    return path


def render(summary: Summary, drawn: Mapping[str, Path]) -> str:
    """The page: the answer, how far to trust it, a figure, the workloads and the paper's claims. All else is folded."""
    found = run_answer.answers(summary)
    sections = document.headlines(summary)
    urgent = [one for one in sections if one.heading in (document.FAILED, document.DOUBTED)]
    first = next((name for name in _FIRST_FIGURES if name in drawn), "")
    workloads = list(_workloads(summary, [name for name in drawn if name != first]))
    placed = {first, *(name for name in drawn if name.startswith(tuple(str(one["name"]) for one in workloads)))}
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("report.html.j2").render(
        name=summary.path.name,
        style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),
        question=QUESTION,
        sentences=list(run_answer.sentences(found, summary.cores)),
        columns=document.ANSWER_COLUMNS,
        rows=[row for one in found for row in _answer_rows(one)],
        answer_explained=document.ANSWER_EXPLAINED,
        urgent=urgent,
        trust=list(_trust(summary, found)),
        first=first,
        workloads=workloads,
        workload_columns=_COLUMNS,
        claims=document.published_claims(summary),
        claims_explained=claims.EXPLAINED,
        figures={name: _figure(name, path) for name, path in drawn.items()},
        more_figures=[name for name in drawn if name not in placed],
        tables=document.tables(summary),
        explained=document.EXPLAINED,
        folded=[one for one in sections if one not in urgent],
        context=document.context(summary),
        ours=OURS,
    )


def _answer_rows(one: WorkloadAnswer) -> Iterator[list[tuple[str, str, str]]]:
    """The cells of each point: how it stands, in a word or none, its number, and a remark."""
    for place, end in one.placed:
        yield [
            ("", one.workload, ""),
            ("", end.point.label, place),
            _against(end.loop),
            _against(end.ray),
            ("", document.share(end), ""),
            ("", str(end.starts), ""),
            ("", ", ".join(end.doubts) or NOTHING, ""),
        ]


def _against(against: Against | None) -> tuple[str, str, str]:
    if against is None:
        return "", NOTHING, ""
    return against.standing, quantity.ratio(against.ratio), "" if against.rival == LOOP else against.rival


def _trust(summary: Summary, found: Sequence[WorkloadAnswer]) -> Iterator[tuple[str, str]]:
    """How far the numbers can be relied on: starts, cores, load, noise floor."""
    starts = sorted({end.starts for one in found for end in one.ends})
    if starts:
        few = "; too few for an interval" if starts[0] <= intervals.FEW else ""
        yield "Starts", f"{starts[0]}" + (f" to {starts[-1]}" if len(starts) > 1 else "") + few
    yield "Cores", str(summary.cores or "unknown")
    loads = [(one.get("load_average") or [0.0])[0] for one in summary.machine.get("sessions", [])]
    yield "Load when the run began", f"{max(loads):.1f}" if loads else "unknown"
    told = ", ".join(f"{workload} {document.percent(factor)}" for workload, factor in summary.floors.items())
    yield document.NOISE, told or document.NOT_MEASURED


def _workloads(summary: Summary, pictures: Sequence[str]) -> Iterator[dict[str, object]]:
    """Each workload with its figures and its points, of which a row has a backend and four columns."""
    for workload, points in grouped(summary.points, lambda point: point.workload).items():
        yield {
            "name": workload,
            "figures": [name for name in pictures if name.startswith(workload)],
            "metric": document.heading(points[0].metric, points[0].units[points[0].metric]),
            "points": [(point.label, [_row(point, cell) for cell in point.cells if cell.main]) for point in points],
        }


def _row(point: PointSummary, cell: Cell) -> tuple[str, ...]:
    loop, ceiling = cell.speedups.get(LOOP), cell.speedups.get(LIMIT)
    return (
        cell.backend,
        document.value(cell.main, point.units[point.metric]) if cell.main else NOTHING,
        quantity.ratio(loop) if loop else NOTHING,
        f"{ceiling.value:.0%}" if ceiling else NOTHING,
        ", ".join(cell.doubts) or NOTHING,
    )


def _figure(name: str, path: Path) -> Markup:
    """An SVG file inlined; its ids are made unique, since all figures share one page."""
    text = path.read_text(encoding="utf-8")
    svg = text[text.index("<svg") :]
    for identifier in set(re.findall(r'\bid="([^"]+)"', svg)):
        unique = f"{name}-{identifier}"
        svg = svg.replace(f'id="{identifier}"', f'id="{unique}"').replace(f"#{identifier})", f"#{unique})")
        svg = svg.replace(f'"#{identifier}"', f'"#{unique}"')
    return Markup(f'<figure aria-label="{escape(figure_catalogue.caption(name))}">{svg}</figure>')
