"""The check of an environment names what it depends on, and accuses nobody else."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from reactorlib.gymnasium.isolation import check_isolation, generators
from reactorlib.gymnasium.isolation.play_server import maker
from tests.reactorlib.gymnasium import culprits

SLOW = pytest.mark.slow(
    reason="a check takes seconds; `make test` has one environment for each culprit, and few clean ones"
)
HERE = Path(__file__).with_name("culprits.py")
GUILTY = {
    "UsesRandom": "random",
    "SeedsRandomItself": "random",
    "UsesNumpy": "numpy.random",
    "UsesTorch": "torch",
    "CountsInItsClass": "class or module state",
    "DrawsFromItsModule": "class or module state",
    "SharesAList": "class or module state",
    "ReadsTheTime": "time",
    "ReadsTheDate": "other",
    "MeasuresItsStep": "time",
    "UsesItsProcess": "process id",
    "FollowsASet": "hash order",
    "HashesAName": "hash order",
    "HasNoSeed": "entropy",
    "NamesItself": "entropy",
    "MakesARandom": "other",
    "ContinuesAFile": "files",
    "LooksForAFile": "files",
    "GrowsAFile": "files",
    "KeepsItsEpisode": "reset",
    "MindsItsThread": "threads",
    "UsesItsAddress": "other",
}
WITH_PLACES = ("random", "numpy.random", "torch", "class or module state", "time", "process id", "entropy", "files")


FIRST = {culprit: name for name, culprit in reversed(GUILTY.items()) if culprit != "torch"}
QUICK = {*FIRST.values(), "CartPole-v1", f"{HERE}:PacesItself", f"{HERE}:WritesALog", f"{HERE}:recorded"}


def some_slow(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=() if name in QUICK else SLOW, id=name.rpartition(":")[2]) for name in names]


@pytest.fixture(autouse=True)
def scratch() -> Iterator[None]:
    shutil.rmtree(culprits.SCRATCH, ignore_errors=True)
    yield
    shutil.rmtree(culprits.SCRATCH, ignore_errors=True)


@pytest.mark.parametrize("name", some_slow(GUILTY))
def test_the_culprit_is_named_and_no_other(name: str) -> None:
    found = check_isolation(f"{HERE}:{name}", steps=40, limit_s=110)
    assert (*found.culprits, *found.unchecked) == (GUILTY[name],)
    assert not found.is_isolated
    if GUILTY[name] in WITH_PLACES:
        assert found.findings[0].places


CLEAN = [
    *("CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Blackjack-v1", "Taxi-v4", "ale_py:ALE/Pong-v5"),
    *(f"{HERE}:{name}" for name in ("Walk", "PacesItself", "WritesALog", "HasItsOwnRandom", "SharesATable", "SortsASet",
                                    "TellsTheTime", "TellsTheDate", "DrawsForNothing", "KeepsATable", "recorded")),
]  # fmt: skip


@pytest.mark.parametrize("name", some_slow(CLEAN))
def test_nobody_is_accused_falsely(name: str) -> None:
    found = check_isolation(name, steps=40, limit_s=110)
    assert found.findings == ()
    assert found.unchecked == ()
    assert found.remedy == "none"


def test_an_environment_that_was_imported_with_a_seed_of_the_system_is_found(tmp_path: Path) -> None:
    path = tmp_path / "seeded.py"
    path.write_text(
        "import random\n"
        "from tests.reactorlib.gymnasium.culprits import Walk\n"
        "made = random.Random()\n"
        "class Seeded(Walk):\n    def draw(self):\n        return made.random()\n"
    )
    found = check_isolation(f"{path}:Seeded", steps=5, limit_s=110)
    assert found.culprits == ("other",)


def test_what_differs_in_infos_alone_is_told_and_no_fault() -> None:
    found = check_isolation(f"{HERE}:TellsTheTime", steps=5, limit_s=110)
    assert found.is_isolated
    assert [finding.culprit for finding in found.in_infos] == ["time", "process id"]


def test_a_generator_that_is_drawn_from_in_vain_is_told() -> None:
    assert check_isolation(f"{HERE}:DrawsForNothing", steps=5, limit_s=110).touched == ("numpy.random",)


class Hanging(culprits.Walk):
    """Takes longer than anybody waits, from the third step on."""

    def step(self, action: Any) -> Any:
        if self.steps == 2:
            time.sleep(300)
        return super().step(action)


def test_the_check_ends_in_time_and_leaves_no_process() -> None:
    began, before = time.monotonic(), set(psutil.Process().children(recursive=True))
    with pytest.raises(RuntimeError, match="no play ended within 4"):
        check_isolation(Hanging, limit_s=4)
    assert time.monotonic() - began < 20
    assert set(psutil.Process().children(recursive=True)) <= before


IMPORTS_LATE = """
import sys
from tests.reactorlib.gymnasium.culprits import Walk

class Late(Walk):
    def draw(self):
        import imported_late
        return 0.5
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the module writes to a file of this process by its number")
def test_a_module_that_steps_import_is_imported_once_by_each_process_that_plays(tmp_path: Path) -> None:
    """A slow import would take the time of all plays. The first play imports it, and then the process that forks."""
    (tmp_path / "late.py").write_text(IMPORTS_LATE)
    counted, count = os.pipe()  # it counts as no file that a play changes
    line = f"with open('/proc/{os.getpid()}/fd/{count}', 'wb') as count:\n    count.write(b'x')\n"
    (tmp_path / "imported_late.py").write_text(line)
    found = check_isolation(f"{tmp_path / 'late.py'}:Late", steps=5, limit_s=110)
    os.close(count)
    with os.fdopen(counted, "rb") as times:
        assert times.read() == b"xxx"  # the process for the second kind of surroundings imports it at its start
    assert found.is_isolated
    assert found.files == found.unchecked == ()


class Leaving(culprits.Walk):
    """Leaves a program that runs on."""

    def __init__(self) -> None:
        super().__init__()
        subprocess.Popen(["sleep", "60"])


def test_generators_and_processes_are_as_before() -> None:
    generators_before, processes = generators.forms(), {one.pid for one in psutil.process_iter()}
    assert check_isolation(Leaving, steps=3, limit_s=110).is_isolated
    assert generators.forms() == generators_before
    left = [one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == ["sleep", "60"]]
    assert {one.pid for one in left} <= processes


def test_modules_of_this_process_are_never_changed_while_a_check_plays() -> None:
    patched = (os, time, random)
    before = [dict(vars(module)) for module in patched]
    seen = []
    with ThreadPoolExecutor(1) as pool:
        check = pool.submit(check_isolation, culprits.MeasuresItsStep, steps=5, limit_s=110)
        while not check.done():
            seen.append([dict(vars(module)) for module in patched] == before)
            threading.Event().wait(0.002)
    assert check.result().culprits == ("time",)  # so they were changed in the processes of the check
    assert all(seen)
    assert len(seen) > 10


def test_only_what_the_check_created_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reactorlib-check-of-another").mkdir()
    (tmp_path / "reactorlib-check-of-another" / "1").write_text("kept")
    there = {path: path.is_dir() or path.read_text() for path in tmp_path.rglob("*")}
    assert check_isolation(culprits.Walk, steps=3, limit_s=110).is_isolated
    assert {path: path.is_dir() or path.read_text() for path in tmp_path.rglob("*")} == there


def test_types_of_the_interpreter_are_as_they_were() -> None:
    program = """if True:
        import datetime, decimal, random, sys, threading, time, uuid
        from reactorlib.gymnasium.isolation.surroundings import OUTSIDE, Surroundings

        def types():
            named = [(at, of) for at, module in sorted(sys.modules.items()) for of in [*vars(module).items()]]
            return {(at, name): (id(of), {key: id(part) for key, part in vars(of).items()})
                    for at, (name, of) in named if isinstance(of, type)}

        before = types()
        Surroundings(OUTSIDE).install()
        assert types() == before
    """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_an_environment_that_fails_alone_cannot_be_checked() -> None:
    def make() -> Any:
        raise ZeroDivisionError("by nought")

    with pytest.raises(RuntimeError, match="fails alone: ZeroDivisionError: by nought"):
        check_isolation(make)


class FailingToClose(culprits.Walk):
    def close(self) -> None:
        raise OSError("it is closed already")


def test_an_environment_whose_close_fails_can_be_checked() -> None:
    assert check_isolation(FailingToClose, steps=3, limit_s=110).is_isolated


class TellsTheDateAndDependsOnTheHour(culprits.TellsTheDate):
    def draw(self) -> float:
        return time.time() // 3600 % 7


def test_a_culprit_of_infos_is_also_found_in_observations() -> None:
    found = check_isolation(TellsTheDateAndDependsOnTheHour, steps=3, limit_s=110)
    assert (found.culprits, [finding.culprit for finding in found.in_infos]) == (("time",), ["other"])


class Dying(culprits.Walk):
    """Ends its process in the third step, by a signal or with a status, or only in a thread."""

    def __init__(self, code: int, in_threads: bool = False) -> None:
        super().__init__()
        self.code, self.in_threads = code, in_threads

    def step(self, action: Any) -> Any:
        if self.steps == 2 and (threading.current_thread() is not threading.main_thread()) == self.in_threads:
            if self.code > 0:
                os._exit(self.code)
            signal.raise_signal(-self.code)
        return super().step(action)


@pytest.mark.parametrize(("code", "end"), [(-signal.SIGSEGV, "was ended by SIGSEGV"), (3, "exited with status 3")])
def test_a_process_that_ends_says_how(code: int, end: str) -> None:
    with pytest.raises(RuntimeError, match=f"fails alone: its process {end} in step 3"):
        check_isolation(partial(Dying, code))
    found = check_isolation(partial(Dying, code, in_threads=True), steps=5, limit_s=110)
    assert [(one.culprit, one.part) for one in found.findings] == [("threads", f"process (its process {end})")]


@pytest.mark.parametrize(
    ("line", "end"), [("os._exit(0)", "exited with status 0"), ("sys.exit(0)", "ends the program"),
                      ("os.abort()", "ended by SIGABRT"), ("os._exit(1)", "exited with status 1")]
)  # fmt: skip
def test_a_process_that_ends_at_import_says_how(tmp_path: Path, line: str, end: str) -> None:
    path = tmp_path / "ending.py"
    path.write_text(f"import os, sys\n{line}\n")
    with pytest.raises(RuntimeError, match=end):
        check_isolation(f"{path}:make")


def test_a_file_named_as_a_loaded_module_does_not_replace_it(tmp_path: Path) -> None:
    path = tmp_path / "random.py"
    path.write_text("def make():\n    return 'environment'\n")
    loaded = sys.modules["random"]
    assert maker(f"{path}:make")() == "environment"
    assert sys.modules["random"] is loaded


def test_each_of_several_files_of_one_name_is_its_own_module(tmp_path: Path) -> None:
    for folder in "abc":
        path = tmp_path / folder / "random.py"
        path.parent.mkdir()
        path.write_text(f"def make():\n    return {folder!r}\n")
    for folder in "abca":
        assert maker(f"{tmp_path / folder / 'random.py'}:make")() == folder
