"""The page of slow tests, which a tool writes, lists every one with its reason."""

import re
from pathlib import Path

import pytest

from tests.groups import GROUPS, group_of
from tools.slow_tests import PAGE, page

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| `(tests/[\w/.]+)::(\w+)` \| (.+) \|$", re.MULTILINE)


def listed():
    """The reasons in the page's table, by file and test."""
    found = {}
    for path, name, reason in ROW.findall(PAGE.read_text(encoding="utf-8")):
        found.setdefault(path, {})[name] = reason
    return found


def test_every_slow_test_is_listed_with_its_reason(slow_tests):
    found = {path: slow for path, slow in slow_tests.items() if not path.startswith("tests/soak/")}  # run in no suite
    assert found == {path: listed().get(path, {}) for path in found}


def test_the_page_is_as_its_tool_writes_it():
    assert PAGE.read_text(encoding="utf-8") == page(listed())  # `python -m tools.slow_tests` writes it again


def test_only_tests_that_exist_are_listed():
    assert [path for path in listed() if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("path", [path for files in GROUPS.values() for path in files])
def test_the_files_of_a_group_exist(path):
    assert (ROOT / path).exists()


def test_a_file_belongs_to_one_process():
    assert group_of("tests/reactorlib/mpi/test_same.py::test_a[1]") == "mpi"
    assert group_of("tests/workloads/test_ray_session.py::test_a") == "ray"
    assert group_of("tests/test_slow.py::test_a[x::y]") == "tests/test_slow.py"
