"""Rules for all tests.

- A Hypothesis example may take as long as a busy machine makes it.
- Ctrl-C interrupts, also where the tests run in the background of a shell, which ignores it.
- The handlers of signals are restored after each test, as commands replace them.
- A slow test says why it is left to `make test-all`.
- Tests that run at the same time do not disturb each other.
- The kernel asserts its invariants.
"""

import gc
import os
import signal
import sys

os.environ.setdefault("REACTORLIB_DEBUG", "1")  # before anything imports the kernel

import pytest
from hypothesis import settings

from tests.groups import GROUPS, group_of

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test runner has threads of its own, which hold no lock that a worker takes. Tests of the rule unset the variable.
os.environ.setdefault("REACTORLIB_START_METHOD", "fork")


@pytest.fixture(autouse=True)
def handlers():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.fixture
def forgotten(monkeypatch):
    """What a test enters from outside of the suite is unknown in the next one."""
    from workloads import catalogue, outside  # which the tests of the kernel's wheel lack

    monkeypatch.setattr(outside, "PLACES", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    known = [(entries, {*entries}) for entries in (catalogue.WORKLOADS, catalogue.BACKENDS)]
    yield
    for entries, before in known:
        for name in entries.keys() - before:
            del entries[name]


# The slow tests that were collected, run or not, as {file: {name: reason}}.
SLOW = pytest.StashKey[dict[str, dict[str, str]]]()


@pytest.hookimpl(tryfirst=True)  # before those that are not asked for are left out
def pytest_collection_modifyitems(config, items):
    found = config.stash.setdefault(SLOW, {})
    for item in items:
        path, _, name = item.nodeid.partition("::")
        slow = found.setdefault(path, {})
        for mark in item.iter_markers("slow"):
            if set(mark.kwargs) != {"reason"} or mark.args:
                raise pytest.UsageError(f"{item.nodeid}: slow without a reason; expected slow(reason=...)")
            if slow.setdefault(name.partition("[")[0], mark.kwargs["reason"]) != mark.kwargs["reason"]:
                raise pytest.UsageError(
                    f"{item.nodeid}: slow for two reasons; expected one, which docs/slow-tests.md lists"
                )
    order = {name: place for place, name in enumerate(GROUPS)}
    items.sort(key=lambda item: order.get(group_of(item.nodeid), len(order)))


def pytest_collection_finish():
    """Keep the modules that are loaded, so that garbage collections and forks need not visit them every time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def slow_tests(pytestconfig):
    """The reasons of the slow tests of all files that were collected, by file and name."""
    return pytestconfig.stash[SLOW]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Whole groups to each process, in the order of collection."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return ByGroup(config, log)
