"""What `make test` leaves out is listed, with its reason, on the page for those who write tests."""

import re
from pathlib import Path

import pytest

from tests.groups import GROUPS, group_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tests.md"
ROW = re.compile(r"^\| `(tests/[\w/.]+)::(\w+)` \| (.+) \|$", re.MULTILINE)


def listed():
    """{file: {test: reason}} of the page's table."""
    found = {}
    for path, name, reason in ROW.findall(PAGE.read_text(encoding="utf-8")):
        found.setdefault(path, {})[name] = reason
    return found


def test_every_slow_test_is_listed_with_its_reason(slow_tests):
    found = {path: slow for path, slow in slow_tests.items() if not path.startswith("tests/soak/")}  # run in no suite
    assert found == {path: listed().get(path, {}) for path in found}


def test_only_tests_that_exist_are_listed():
    assert [path for path in listed() if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("path", [path for files in GROUPS.values() for path in files])
def test_the_files_of_a_group_exist(path):
    assert (ROOT / path).exists()


def test_a_file_belongs_to_one_process():
    assert group_of("tests/reactorlib/mpi/test_same.py::test_a[1]") == "mpi"
    assert group_of("tests/workloads/test_ray_session.py::test_a") == "ray"
    assert group_of("tests/test_slow.py::test_a[x::y]") == "tests/test_slow.py"
