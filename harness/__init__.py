"""The benchmark's harness: it plans runs, measures each trial in fresh processes, stores the results and reports."""

import importlib.util
import sys

_NEEDED = ("rich", "psutil", "msgspec", "scipy", "jinja2")

# `python -m harness` with an interpreter that is not the one of .venv.
if sys.argv[:1] == ["-m"] and "harness" in sys.orig_argv and not all(map(importlib.util.find_spec, _NEEDED)):
    sys.exit(f"harness: {sys.executable} lacks what the suite needs; use .venv/bin/python, which `make install` makes")
