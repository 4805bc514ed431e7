"""The file of an evaluation: a header line and a line of JSON for each row. Nothing in it depends on slots or time.

While the episodes run, rows are appended as they end, so that a killed process leaves them. At the end the file is
replaced by one with the rows in order.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from reactorlib.gymnasium.evaluation.rows import EpisodeRow, Evaluation

FORMAT = 1
_PACKAGES = ("reactorlib", "gymnasium", "numpy", "torch", "ale-py", "mujoco")


def file_header(**facts: Any) -> dict[str, Any]:
    """The first line: these facts, and the versions of packages that are installed."""
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {"evaluation": FORMAT, **facts, "versions": versions}


def file_line(record: dict[str, Any]) -> str:
    """A line of the file."""
    return json.dumps(record) + "\n"


def write_file(path: str, head: dict[str, Any], rows: Iterable[EpisodeRow]) -> None:
    """Replace the file, as a whole."""
    half = Path(f"{path}.half")
    half.write_text("".join(file_line(one) for one in (head, *(row._asdict() for row in rows))), encoding="utf-8")
    half.replace(path)


def read_file(path: str) -> tuple[dict[str, Any], Evaluation]:
    """The header and the rows of a file, of which the last line may be cut off. Raises ValueError for other files."""
    lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    try:
        head, *rows = [json.loads(one) for one in lines if one.endswith("\n")]
        if head["evaluation"] != FORMAT:
            raise ValueError
        return head, Evaluation(tuple(sorted(EpisodeRow(**row) for row in rows)))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no file of an evaluation of this version") from error
