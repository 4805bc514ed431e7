"""The report as one self-contained HTML page: opens from disk, needs no network. Renders a summary, decides nothing."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from harness import quantity
from harness.report import claims, document, matrix
from harness.report.summary import OURS, Summary
from harness.report.verdict import Clause
from harness.stats.doubts import DOUBTS_EXPLAINED
from harness.store.measurements import write_atomically
from plots import figures

PAGE_NAME = "report.html"
QUESTION = (
    "Does a fixed communication pattern, compiled before the run, beat Ray's actors for parallel reinforcement "
    "learning on one multi-core machine, and how near does it come to what the machine can do at all?"
)
_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --mark: #f3f6f9;
  --ours: #0b5a9d; --faster: #0a6b3d; --slower: #a3260f; }
@media (prefers-color-scheme: dark) { :root { --paper: #12161b; --ink: #e6edf3; --soft: #9aa5b1; --line: #30363d;
  --mark: #1b222a; --ours: #79b8f3; --faster: #5fd38d; --slower: #ff8f73; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 100rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
body > p, body > ul, body > dl, details > ul, details > p { max-width: 52rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 2.5rem; font-size: 1.25rem; }
.question { font-size: 1.1rem; color: var(--soft); } .soft { color: var(--soft); font-size: .9rem; }
.words { padding-left: 1.1rem; } code { font-size: .85em; }
.table { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; max-width: 100%; width: fit-content; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap;
  background: var(--paper); }
th:first-child, td:first-child { position: sticky; left: 0; z-index: 1; text-align: left;
  box-shadow: 1px 0 var(--line); }
tr.point { background: var(--mark); } tr.point th { background: none; }
tr.point th:first-child { max-width: 0; overflow: visible; box-shadow: none; }
tr.best td { font-weight: 600; } td.ours { color: var(--ours); }
table.verdict { font-size: .95rem; } .verdict td, .verdict th { text-align: left; white-space: normal;
  vertical-align: top; }
.verdict span { white-space: nowrap; } .verdict b { display: block; font-weight: 600; }
.verdict .faster { color: var(--faster); } .verdict .slower { color: var(--slower); }
@media (max-width: 48rem) {
  .verdict thead { display: none; } .verdict, .verdict tbody, .verdict tr, .verdict td { display: block; width: 100%; }
  .verdict td { border: none; padding: .2rem .6rem; }
  .verdict tr { border-bottom: 1px solid var(--line); padding: .4rem 0; }
  .verdict td:first-child { font-weight: 600; box-shadow: none; position: static; }
  .verdict td[data-head]::before { content: attr(data-head) ": "; color: var(--soft); }
  .verdict b { display: inline; }
}
figure { margin: .75rem 0; max-width: 52rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 40rem), 1fr)); gap: 0 1.5rem; }
figure svg { display: block; width: 100%; height: auto; border-radius: .4rem; }
details { border-top: 1px solid var(--line); padding: .2rem 0; } details > summary { padding: .5rem 0; cursor: pointer;
  font-weight: 600; } details[open] { padding-bottom: 1rem; }
"""


def write(summary: Summary, drawn: Sequence[Path]) -> Path:
    """Write `report.html` into the results directory, with the SVG files of `drawn` in it; returns its path."""
    path = summary.path / PAGE_NAME
    write_atomically(path, render(summary, drawn).encode())
    return path


def render(summary: Summary, drawn: Sequence[Path]) -> str:
    """The page: the verdict, what failed and what is doubted, the figures; all else folded."""
    sections = document.headlines(summary)
    pictures = [path for path in drawn if path.suffix == ".svg"]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>Reactors against Ray: {escape(summary.path.name)}</title><style>{_STYLE}</style></head><body>",
        f'<h1>Reactors against Ray</h1><p class="question">{escape(QUESTION)}</p>',
        _verdict(matrix.rows(summary)),
        *(f"<h2>{escape(one.heading)}</h2>{_list(one.lines)}" for one in sections if _first(one.heading)),
        _claims(document.published_claims(summary)),
        f'<h2>Figures</h2><div class="figures">{"".join(map(_figure, pictures))}</div>' if pictures else "",
        "<h2>All numbers</h2>",
        *(_folded(grid.title, _table(grid)) for grid in document.tables(summary)),
        f'<p class="soft">{escape(f"{document.explained(summary)} Bold: best of its point. {DOUBTS_EXPLAINED}")}</p>',
        "<h2>All else</h2>",
        *(_folded(one.heading, _list(one.lines)) for one in sections if not _first(one.heading)),
        _folded("Machine, versions, command", _list(document.context(summary))),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _first(heading: str) -> bool:
    """Failures and doubts are not folded."""
    return heading in {"Failed", "Doubts about the whole run"}


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def _list(lines: Sequence[str], kind: str = "") -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul{f' class={kind!r}' if kind else ''}>{items}</ul>"


def _verdict(rows: Sequence[matrix.MatrixRow]) -> str:
    """The table of verdicts; nothing without rows."""
    told = (
        (row.workload, *(_clause(*pair) for pair in zip(matrix.HEADINGS[1:], row.clauses, strict=True))) for row in rows
    )
    words = _list(matrix.WORDS, "words soft")
    return _blocks(matrix.HEADING, matrix.HEADINGS, told) + words if rows else ""


def _claims(grid: document.TextTable) -> str:
    """The table of the paper's claims; nothing without rows."""
    told = ((row[0], *map(_cell, grid.columns[1:], row[1:])) for row in grid.rows)
    words = f'<p class="soft">{escape(claims.EXPLAINED)}</p>'
    return _blocks(grid.title, grid.columns, told) + words if grid.rows else ""


def _blocks(title: str, headings: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of sentences, whose rows a narrow screen shows as blocks of lines. A row: its name, and its cells."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr><td>{escape(name)}</td>{''.join(cells)}</tr>" for name, *cells in rows)
    table = f'<table class="verdict"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<h2>{title}</h2><div class="table" tabindex="0">{table}</div>'


def _cell(heading: str, text: str) -> str:
    return f'<td data-head="{escape(heading)}">{escape(text)}</td>'


def _clause(heading: str, clause: Clause | None) -> str:
    if clause is None:
        return _cell(heading, matrix.NOTHING)
    numbers = " to ".join(f"<span>{escape(quantity.ratio(ratio))}</span>" for ratio in clause.ends)
    kind = clause.standing if clause.standing in {"faster", "slower"} else ""
    return f'<td data-head="{escape(heading)}"><b class="{kind}">{escape(clause.standing)}</b> {numbers}</td>'


def _figure(path: Path) -> str:
    """An SVG file inlined; its ids are made unique, since all figures share one page."""
    text = path.read_text(encoding="utf-8")
    svg = text[text.index("<svg") :]
    for identifier in set(re.findall(r'\bid="([^"]+)"', svg)):
        unique = f"{path.stem}-{identifier}"
        svg = svg.replace(f'id="{identifier}"', f'id="{unique}"').replace(f"#{identifier})", f"#{unique})")
        svg = svg.replace(f'"#{identifier}"', f'"#{unique}"')
    caption = escape(figures.CAPTIONS.get(path.stem, path.stem))
    return f'<figure aria-label="{caption}">{svg}</figure>'


def _table(grid: document.TextTable) -> str:
    """A table whose points are rows of their own, so that one column is enough to say what the others are about."""
    columns = grid.columns[1:]
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    rows = []
    for index, (point, *row) in enumerate(grid.rows):
        if point:
            rows.append(f'<tr class="point"><th>{escape(point)}</th><th colspan="{len(columns) - 1}"></th></tr>')
        cells = "".join(
            f"<td{' class=ours' if position == 0 and cell.startswith(OURS) else ''}>{escape(cell)}</td>"
            for position, cell in enumerate(row)
        )
        rows.append(f"<tr{' class=best' if index in grid.best else ''}>{cells}</tr>")
    body = "".join(rows)
    return f'<div class="table" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
