"""The report as one self-contained HTML page: opens from disk, needs no network. Renders a summary, decides nothing."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from harness import report
from harness.checks import DOUBTS_EXPLAINED
from harness.record import write_atomically
from harness.summary import OURS, Summary
from plots import figures

PAGE_NAME = "report.html"
QUESTION = (
    "Does a fixed communication pattern, compiled before the run, beat Ray's actors for parallel reinforcement "
    "learning on one multi-core machine, and how near does it come to what the machine can do at all?"
)
_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --mark: #ddf4ff;
  --ours: #0b5a9d; }
@media (prefers-color-scheme: dark) { :root { --paper: #12161b; --ink: #e6edf3; --soft: #9aa5b1; --line: #30363d;
  --mark: #12304a; --ours: #79b8f3; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 2.5rem; font-size: 1.25rem; }
.question { font-size: 1.1rem; color: var(--soft); }
.verdicts li { margin: .5rem 0; padding: .5rem .75rem; background: var(--mark);
  border-radius: .4rem; list-style: none; }
.verdicts { padding: 0; }
.table { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
tr.best td { font-weight: 600; } td.ours { color: var(--ours); } tr.first td { border-top: 2px solid var(--line); }
figure { margin: 1.5rem 0; } figcaption { margin-top: .3rem; color: var(--soft);
  font-size: .9rem; }
figure svg { display: block; width: 100%; height: auto; max-width: 52rem; border-radius: .4rem; }
code { font-size: .85em; } .soft { color: var(--soft); font-size: .9rem; }
"""


def write(summary: Summary, drawn: Sequence[Path]) -> Path:
    """Write `report.html` into the results directory, with the SVG files of `drawn` in it; returns its path."""
    path = summary.path / PAGE_NAME
    write_atomically(path, render(summary, drawn).encode())
    return path


def render(summary: Summary, drawn: Sequence[Path]) -> str:
    """The page."""
    sections = report.headlines(summary)
    pictures = [path for path in drawn if path.suffix == ".svg"]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>Reactors against Ray: {escape(summary.path.name)}</title><style>{_STYLE}</style></head><body>",
        f'<h1>Reactors against Ray</h1><p class="question">{escape(QUESTION)}</p>',
        *(_list(section.heading, section.lines) for section in sections if _first(section.heading)),
        "<h2>Figures</h2>",
        *(_figure(path) for path in pictures),
        *(_table(grid) for grid in report.tables(summary)),
        *(_list(section.heading, section.lines) for section in sections if not _first(section.heading)),
        _list("Machine, versions, command", report.context(summary)),
        f'<p class="soft">{escape(report.EXPLAINED)} Bold: best of its point. {escape(DOUBTS_EXPLAINED)}</p>',
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _first(heading: str) -> bool:
    """Verdict, failures and doubts stand before the figures."""
    return heading in {"Verdict", "Failed", "Doubts about the whole run"}


def _list(heading: str, lines: Sequence[str]) -> str:
    kind = "verdicts" if heading == "Verdict" else ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>{escape(heading)}</h2><ul{f' class={kind!r}' if kind else ''}>{items}</ul>"


def _figure(path: Path) -> str:
    """An SVG file inlined; its ids are made unique, since all figures share one page."""
    text = path.read_text(encoding="utf-8")
    svg = text[text.index("<svg") :]
    for identifier in set(re.findall(r'\bid="([^"]+)"', svg)):
        unique = f"{path.stem}-{identifier}"
        svg = svg.replace(f'id="{identifier}"', f'id="{unique}"').replace(f"#{identifier})", f"#{unique})")
        svg = svg.replace(f'"#{identifier}"', f'"#{unique}"')
    caption = escape(figures.CAPTIONS.get(path.stem, path.stem))
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def _table(grid: report.Grid) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in grid.columns)
    rows = []
    for number, row in enumerate(grid.rows):
        kinds = " ".join(kind for kind, holds in (("best", number in grid.best), ("first", bool(row[0]))) if holds)
        cells = "".join(
            f"<td{' class=ours' if position == 1 and cell.startswith(OURS) else ''}>{escape(cell)}</td>"
            for position, cell in enumerate(row)
        )
        rows.append(f'<tr class="{kinds}">{cells}</tr>')
    body = "".join(rows)
    return (
        f"<h2>{escape(grid.title)}</h2>"
        f'<div class="table" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )
