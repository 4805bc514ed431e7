"""A report as Markdown."""

import os
from collections.abc import Iterable
from html import escape
from pathlib import Path
from urllib.parse import quote

from harness.report import paper_claims, report_tables, run_answer
from harness.report.summary import Summary
from harness.report.text_table import TextTable


def to_markdown(summary: Summary) -> str:
    """The report as a page."""
    found = run_answer.answers(summary)
    parts = ["# Reactors against Ray", markdown_list(report_tables.context(summary))]
    if found:
        told = " ".join(run_answer.sentences(found, summary.cores))
        table = markdown_table(report_tables.answer_table(found))
        parts += [f"## {run_answer.HEADING}", markdown_text(told), table, report_tables.ANSWER_EXPLAINED]
    if (claimed := paper_claims.table(summary)).rows:
        parts += [f"## {claimed.title}", markdown_table(claimed), markdown_text(paper_claims.EXPLAINED)]
    for heading, lines in report_tables.headlines(summary).items():
        parts += [f"## {heading}", markdown_list(lines)]
    for grid in report_tables.tables(summary):
        parts += [f"## {markdown_text(grid.title)}", markdown_table(grid)]
    return "\n\n".join([*parts, report_tables.EXPLAINED]) + "\n"


def markdown_text(text: str) -> str:
    """Text from a file that a page shows letter by letter: no tag, no link, no end of a line or of a cell."""
    return escape(" ".join(text.split()), quote=False).replace("](", "]\\(").replace("|", "\\|")


def markdown_link(text: str, target: Path, base: Path) -> str:
    """A link from a page in the directory `base` to a file, whatever its name."""
    shown = markdown_text(text).replace("[", "\\[").replace("]", "\\]")
    return f"[{shown}]({quote(os.path.relpath(target, base))})"


def markdown_list(lines: Iterable[str]) -> str:
    """A list in Markdown."""
    return "\n".join(f"- {markdown_text(line)}" for line in lines)


def markdown_table(grid: TextTable) -> str:
    """A table in Markdown, the best of each point in bold."""
    rule = ["---" if position < 2 else "---:" for position in range(len(grid.columns))]
    lines = [tuple(map(markdown_text, grid.columns)), rule]
    for number, row in enumerate(grid.rows):
        bold = (1, 2) if number in grid.best else ()
        lines.append([f"**{cell}**" if at in bold else cell for at, cell in enumerate(map(markdown_text, row))])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
