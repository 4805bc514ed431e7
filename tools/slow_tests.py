"""Write docs/slow-tests.md, the list of tests that `make test` leaves out, from the marks in the tests.

python -m tools.slow_tests
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "slow-tests.md"
_INTRODUCTION = """\
# Slow tests

`make test` leaves these tests out, and `make test-all` runs them. `python -m tools.slow_tests` writes this page from
the marks in the tests. [Tests](tests.md#slow-tests) has the rule for a mark.

| Test | Reason |
|---|---|
"""


def page(slow: Mapping[str, Mapping[str, str]]) -> str:
    """The whole page, of {file: {test: reason}}."""
    rows = (
        f"| `{path}::{name}` | {reason} |\n" for path in sorted(slow) for name, reason in sorted(slow[path].items())
    )
    return _INTRODUCTION + "".join(rows)


def collected() -> dict[str, dict[str, str]]:
    """The slow tests of the suite by file, without those that only `make soak` runs."""
    found: dict[str, dict[str, str]] = {}

    class Plugin:
        def pytest_itemcollected(self, item: pytest.Item) -> None:
            path, _, name = item.nodeid.partition("::")
            for mark in item.iter_markers("slow"):
                if not path.startswith("tests/soak/"):
                    found.setdefault(path, {})[name.partition("[")[0]] = mark.kwargs["reason"]

    status = pytest.main(["--collect-only", "-qq", "-m", "not soak", str(ROOT / "tests")], plugins=[Plugin()])
    return found if status == 0 else sys.exit(int(status))


if __name__ == "__main__":
    PAGE.write_text(page(collected()), encoding="utf-8")
