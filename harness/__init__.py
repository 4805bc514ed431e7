"""The benchmark's harness: what runs, in which order, each trial in a fresh process, and what came out."""

import importlib.util
import sys

if importlib.util.find_spec("rich") is None or importlib.util.find_spec("psutil") is None:
    sys.exit(
        f"harness: {sys.executable} has not what the suite needs; use .venv/bin/python, which `make install` makes"
    )
