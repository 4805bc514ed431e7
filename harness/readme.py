"""The part of the README that results fill: made from a results directory, between two markers. No number by hand."""

import os
from collections.abc import Sequence
from pathlib import Path

from harness import claims, report, verdict
from harness.errors import UsageError
from harness.record import write_atomically
from harness.summary import Summary
from plots.figures import CAPTIONS

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"


def update(readme: Path, summary: Summary, drawn: Sequence[Path]) -> None:
    """Put verdicts, tables and figures of a run between the markers of `readme`. Raises UsageError without them."""
    try:
        text = readme.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{readme}: {error.strerror}; expected a file with the markers {BEGIN} and {END}") from None
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UsageError(f"{readme}: has no markers {BEGIN} and {END} to put the results between")
    write_atomically(readme, f"{before}{BEGIN}\n{section(summary, drawn, readme.parent)}{END}{after}".encode())


def section(summary: Summary, drawn: Sequence[Path], base: Path) -> str:
    """The text between the markers; figures are linked relative to `base`."""
    where = os.path.relpath(summary.path, base)
    command = next((" ".join(s["command"]) for s in summary.machine.get("sessions", []) if s.get("command")), "")
    parts = [
        f"Made by `python -m harness report {where} --readme README.md` from the rows in `{where}/`, which came from:",
        f"```sh\n{' '.join(command.split())}\n```",
        report.markdown_list(report.context(summary)[1:3]),
        "What is lost is said first. The best Ray is that of each point, and the 95 % interval counts the choice:",
        report.markdown_list(verdict.sentences(summary)),
    ]
    if claimed := claims.sentences(summary):
        parts += [f"{claims.HEADING}, and what was measured here:", report.markdown_list(claimed)]
    if summary.doubts:
        parts.append(report.markdown_text("Doubts: " + "; ".join(summary.doubts) + "."))
    parts += [
        f"![{CAPTIONS.get(path.stem, path.stem)}]({os.path.relpath(path, base)})"
        for path in drawn
        if path.suffix == ".svg"
    ]
    parts += [
        f"<details><summary>{report.markdown_text(grid.title)}: all numbers</summary>\n\n"
        f"{report.markdown_table(grid)}\n\n</details>"
        for grid in report.tables(summary)
    ]
    parts.append(f"{report.EXPLAINED} Bold: best of its point.")
    return "\n\n".join(parts) + "\n"
