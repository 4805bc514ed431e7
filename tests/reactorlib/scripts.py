"""Python in processes of their own, which begin in the root of the repository and have a minute."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 60


def python(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments until it ends, with whatever status. Options are those of `subprocess.run`."""
    options = {"cwd": ROOT, "env": os.environ | {"PYTHONPATH": str(ROOT)}, "timeout": LIMIT_S, **options}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)


def printed(*arguments: str | Path, **options: Any) -> str:
    """The standard output of such a run, which has to succeed."""
    done = python(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout
