"""The examples on the pages under docs run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in (ROOT / "docs" / "sessions.md", ROOT / "docs" / "vector-environments.md")
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(example: str, tmp_path: Path) -> None:
    for module in re.findall(r"^from (stable_baselines3|torchrl|ray\.rllib)\b", example, re.MULTILINE):
        pytest.importorskip(module, exc_type=ImportError)
    script = tmp_path / "example.py"
    script.write_text(example)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=100, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
