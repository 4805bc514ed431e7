"""`make install` installs needed packages at once and optional ones one by one. It names those that fail."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


@pytest.fixture
def install(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import install

    return install.install


@pytest.fixture
def pip():
    """Records its calls, and refuses what its list names."""

    def run(arguments):
        run.calls.append(arguments)
        return next((f"ERROR: no wheel for {name}" for name in run.refused if name in arguments[-1]), "")

    run.calls, run.refused = [], []
    return run


def test_everything_is_asked_for_within_the_constraints(install, pip, capsys):
    assert install(["--extra-index-url", "here"], pip) == 0
    assert all(
        call[:4] == ["--constraint", str(ROOT / "constraints.txt"), "--extra-index-url", "here"] for call in pip.calls
    )
    assert [call[-1] for call in pip.calls] == [f"{ROOT}[bench,dev,docs]", *EXTRAS["mpi"], *EXTRAS["peers"]]
    assert capsys.readouterr().err == ""


def test_an_optional_package_without_a_wheel_is_left_out_with_one_line(install, pip, capsys):
    pip.refused = ["envpool"]
    assert install([], pip) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(r"left out: envpool, which Python 3\.\d+\.\d+\S* cannot have: ERROR: no wheel", line)
    assert pip.calls[-1][-1].startswith("xronos")


def test_without_what_is_needed_nothing_else_is_tried(install, pip, capsys):
    pip.refused = ["bench"]
    assert install([], pip) == 1
    assert len(pip.calls) == 1
    assert "the suite cannot be installed on Python" in capsys.readouterr().err


def test_pip_s_last_error_is_the_reason(install, monkeypatch):
    module = sys.modules["install"]
    monkeypatch.setattr(
        module, "PIP", (sys.executable, "-c", "import sys; sys.exit('WARNING: x\\nERROR: first\\nERROR: last')")
    )
    assert module.pip([]) == "ERROR: last"
    monkeypatch.setattr(module, "PIP", (sys.executable, "-c", ""))
    assert module.pip([]) == ""
