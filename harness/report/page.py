"""The report as one self-contained HTML page: opens from disk, needs no network."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness import quantity
from harness.grouping import grouped
from harness.report import paper_claims, report_tables, run_answer
from harness.report.figures import figure_catalogue
from harness.report.markdown import to_markdown
from harness.report.run_answer import WorkloadAnswer
from harness.report.summary import LOOP, OURS, Summary
from harness.report.text_table import NOTHING, explanation
from harness.stats import intervals
from harness.stats.reference_ceiling import CEILING
from harness.store.files import write_atomically

PAGE_NAME = "report.html"
_TEMPLATES = Path(__file__).parent / "templates"
_FIRST_FIGURES = ("step_time", "hardware_limit")


def write(summary: Summary, drawn: Mapping[str, Path]) -> Path:
    """Write `report.md`, and `report.html` with the figures that were drawn, into the results directory.

    Returns the path of the page. Raises OSError.
    """
    write_atomically(summary.path / "report.md", to_markdown(summary).encode())
    path = summary.path / PAGE_NAME
    write_atomically(path, render(summary, drawn).encode())
    return path


def render(summary: Summary, drawn: Mapping[str, Path]) -> str:
    """The page: the answer, how far to trust it, a figure, the workloads and the paper's claims. All else is folded."""
    found, sections = run_answer.answers(summary), report_tables.headlines(summary)
    first = next((name for name in _FIRST_FIGURES if name in drawn), "")
    workloads = grouped(summary.points, lambda point: point.workload)
    of_workload = {one: [name for name in drawn if name != first and name.startswith(one)] for one in workloads}
    placed = {first, *(name for names in of_workload.values() for name in names)}
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    names = {"ours": OURS, "serial": LOOP, "ceiling": CEILING, "nothing": NOTHING, "ratio": quantity.ratio}
    return environment.get_template("report.html.j2").render(
        names,
        summary=summary,
        question=explanation("question"),
        sentences=list(run_answer.sentences(found, summary.cores)),
        answers=found,
        sections=sections,
        trust=list(_trust(summary, found)),
        first=first,
        workloads=workloads,
        figures_of=of_workload,
        figures={name: _figure(name, path) for name, path in drawn.items()},
        more_figures=[name for name in drawn if name not in placed],
        report_tables=report_tables,
        paper_claims=paper_claims,
    )


def _trust(summary: Summary, found: Sequence[WorkloadAnswer]) -> Iterator[tuple[str, str]]:
    """How far the numbers can be relied on: starts, cores, load, noise floor."""
    starts = sorted({end.starts for one in found for _, end in one.placed})
    if starts:
        few = "; too few for an interval" if starts[0] <= intervals.FEW else ""
        yield "Starts", quantity.from_to(starts) + few
    yield "Cores", str(summary.cores or "unknown")
    loads = [(one.get("load_average") or [0.0])[0] for one in summary.machine.get("sessions", [])]
    yield "Load when the run began", f"{max(loads):.1f}" if loads else "unknown"
    told = report_tables.percent(summary.floor) if summary.noise else report_tables.NOT_MEASURED
    yield report_tables.NOISE, told


def _figure(name: str, path: Path) -> Markup:
    """An SVG file inlined; its ids are made unique, since all figures share one page."""
    text = path.read_text(encoding="utf-8")
    svg = text[text.index("<svg") :]
    for identifier in set(re.findall(r'\bid="([^"]+)"', svg)):
        unique = f"{name}-{identifier}"
        svg = svg.replace(f'id="{identifier}"', f'id="{unique}"').replace(f"#{identifier})", f"#{unique})")
        svg = svg.replace(f'"#{identifier}"', f'"#{unique}"')
    return Markup(f'<figure aria-label="{escape(figure_catalogue.FIGURES[name][0])}">{svg}</figure>')
