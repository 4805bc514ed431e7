"""A run's numbers in the formats that other tools draw histories and raise alarms from. One file per format."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.export import bencher, github, pytest_benchmark
from harness.export.series import Measured

Files = dict[Path, Any]

FORMATS: dict[str, Callable[[Measured, Path], Files]] = {
    "github": github.files,
    "bencher": bencher.files,
    "pytest-benchmark": pytest_benchmark.files,
}


def files(measured: Measured, form: str, output: Path) -> Files:
    """The files to write and the JSON of each; raises UsageError where the run has nothing to export."""
    if not measured.series:
        raise UsageError("the run holds no successful trial to export")
    return FORMATS[form](measured, output)
