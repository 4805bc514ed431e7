"""The report as one self-contained HTML page: opens from disk, needs no network. Renders a summary, decides nothing."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness import quantity
from harness.grouping import grouped
from harness.report import claims, document, noise_text, run_answer
from harness.report.run_answer import Against, PointAnswer, WorkloadAnswer
from harness.report.summary import LIMIT, OURS, Cell, PointSummary, Summary
from harness.report.verdict import LOOP
from harness.stats import intervals, noise_floor
from harness.stats.doubts import DOUBTS_EXPLAINED
from harness.store.files import write_atomically
from plots import figures

PAGE_NAME = "report.html"
QUESTION = (
    "Does a fixed communication pattern, compiled before the run, beat Ray's actors for parallel reinforcement "
    "learning on one multi-core machine, and how near does it come to what the machine can do at all?"
)
_TEMPLATES = Path(__file__).parent / "templates"
_FIRST_FIGURES = ("step_time", "hardware_limit")
_COLUMNS = ("backend", "x loop", "of the ceiling", "doubts")


def write(summary: Summary, drawn: Sequence[Path]) -> Path:
    """Write `report.html` into the results directory, with the SVG files of `drawn` in it; returns its path."""
    path = summary.path / PAGE_NAME
    write_atomically(path, render(summary, drawn).encode())
    return path


def render(summary: Summary, drawn: Sequence[Path]) -> str:
    """The page: the answer, how far to trust it, a figure, the workloads, the paper's claims; all else folded."""
    found = run_answer.answers(summary)
    sections = document.headlines(summary)
    pictures = {path.stem: path for path in drawn if path.suffix == ".svg"}
    first = next((name for name in _FIRST_FIGURES if name in pictures), "")
    workloads = list(_workloads(summary, [name for name in pictures if name != first]))
    placed = {first, *(name for name in pictures if name.startswith(tuple(str(one["name"]) for one in workloads)))}
    loader = FileSystemLoader(_TEMPLATES)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html.j2").render(
        name=summary.path.name,
        style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),
        question=QUESTION,
        sentences=list(run_answer.sentences(found, summary.machine.get("cores_allowed"))),
        columns=document.ANSWER_COLUMNS,
        rows=[row for one in found for row in _answer_rows(one)],
        answer_explained=document.ANSWER_EXPLAINED,
        urgent=[one for one in sections if one.heading in (document.FAILED, document.DOUBTED)],
        trust=list(_trust(summary, found)),
        first=first,
        workloads=workloads,
        workload_columns=_COLUMNS,
        claims=document.published_claims(summary),
        claims_explained=claims.EXPLAINED,
        figures={name: _figure(path) for name, path in pictures.items()},
        more_figures=[name for name in pictures if name not in placed],
        tables=document.tables(summary),
        explained=f"{document.explained(summary)} Bold: best of its point. {DOUBTS_EXPLAINED}",
        folded=[one for one in sections if one.heading not in (document.FAILED, document.DOUBTED)],
        context=document.context(summary),
        ours=OURS,
    )


def _answer_rows(one: WorkloadAnswer) -> Iterator[list[tuple[str, str, str]]]:
    """The cells of each point: how it stands, in a word or none, its number, and a remark."""
    for end in one.ends:
        place = "" if len(one.ends) == 1 else "weakest" if end is one.weakest else "strongest"
        yield [
            ("", one.workload, ""),
            ("", end.point.label, place),
            _against(end.loop),
            _against(end.ray),
            ("", _share(end), ""),
            ("", str(end.starts), ""),
            ("", ", ".join(end.doubts) or document.NOTHING, ""),
        ]


def _against(against: Against | None) -> tuple[str, str, str]:
    if against is None:
        return "", document.NOTHING, ""
    return against.standing, quantity.ratio(against.ratio), "" if against.rival == LOOP else against.rival


def _share(end: PointAnswer) -> str:
    return document.NOTHING if end.ceiling is None else f"{end.ceiling.value:.0%}"


def _trust(summary: Summary, found: Sequence[WorkloadAnswer]) -> Iterator[tuple[str, str]]:
    """How far the numbers can be relied on: starts, cores, load, noise floor."""
    starts = sorted({end.starts for one in found for end in one.ends})
    if starts:
        few = "; too few for an interval of their own" if starts[0] <= intervals.FEW else ""
        yield "Starts", f"{starts[0]}" + (f" to {starts[-1]}" if len(starts) > 1 else "") + few
    yield "Cores", str(summary.machine.get("cores_allowed", "unknown"))
    loads = [(one.get("load_average") or [0.0])[0] for one in summary.machine.get("sessions", [])]
    yield "Load when the run began", f"{max(loads):.1f}" if loads else "unknown"
    floors = noise_floor.by_workload(summary.noise)
    told = ", ".join(f"{workload} {noise_text.percent(factor)}" for workload, factor in floors.items())
    yield noise_text.HEADING, told or noise_text.NOT_MEASURED


def _workloads(summary: Summary, pictures: Sequence[str]) -> Iterator[dict[str, object]]:
    """Each workload with its figures and its points, of which a row has a backend and four columns."""
    for workload, points in grouped(summary.points, lambda point: point.workload).items():
        yield {
            "name": workload,
            "figures": [name for name in pictures if name.startswith(workload)],
            "metric": points[0].metric.replace("_", " "),
            "points": [(point.label, [_row(point, cell) for cell in point.cells if cell.main]) for point in points],
        }


def _row(point: PointSummary, cell: Cell) -> tuple[str, ...]:
    loop, ceiling = cell.speedups.get(LOOP), cell.speedups.get(LIMIT)
    return (
        cell.backend,
        document.value(cell.main, point.units[point.metric]) if cell.main else document.NOTHING,
        quantity.ratio(loop) if loop else document.NOTHING,
        f"{ceiling.value:.0%}" if ceiling else document.NOTHING,
        ", ".join(cell.doubts) or document.NOTHING,
    )


def _figure(path: Path) -> Markup:
    """An SVG file inlined; its ids are made unique, since all figures share one page."""
    text = path.read_text(encoding="utf-8")
    svg = text[text.index("<svg") :]
    for identifier in set(re.findall(r'\bid="([^"]+)"', svg)):
        unique = f"{path.stem}-{identifier}"
        svg = svg.replace(f'id="{identifier}"', f'id="{unique}"').replace(f"#{identifier})", f"#{unique})")
        svg = svg.replace(f'"#{identifier}"', f'"#{unique}"')
    caption = escape(figures.CAPTIONS.get(path.stem, path.stem))
    return Markup(f'<figure aria-label="{caption}">{svg}</figure>')
