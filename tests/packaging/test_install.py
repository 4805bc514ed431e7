"""`make install` installs needed packages at once and the others one by one. It names those that it leaves out."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
NEITHER = {"system": {}}  # whatever environment the tests run in


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import install

    return install


@pytest.fixture
def pip():
    """Records its calls, and refuses what its list names."""

    def run(arguments):
        run.calls.append(arguments)
        return next((f"ERROR: no wheel for {name}" for name in run.refused if name in " ".join(arguments)), "")

    run.calls, run.refused = [], []
    return run


def asked(call):
    """The requirements in a call of pip."""
    return [one for one in call if re.match(r"[\w-]+(\[\w+\])?[><=]", one)]


def test_what_measures_is_installed_within_the_constraints(tool, pip, capsys):
    assert tool.install(["--extra-index-url", "here"], run=pip, **NEITHER) == 0
    harness, checkout, workloads, *others = pip.calls
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    assert all(call[:3] == ["install", *constraints] for call in (harness, workloads, *others))
    assert all("here" in call for call in pip.calls)
    assert asked(harness) == EXTRAS["harness"]
    assert checkout[-3:] == ["--no-deps", "--editable", str(ROOT)]
    assert asked(workloads) == EXTRAS["workloads"]
    assert [one for call in others for one in asked(call)] == [*EXTRAS["mpi"], *EXTRAS["peers"]]
    said = capsys.readouterr()
    assert said.err == ""
    assert len(said.out.splitlines()) == 2 + len(others)


def test_for_development_everything_is_needed(tool, pip, capsys):
    assert tool.install([], develop=True, run=pip, **NEITHER) == 0
    assert asked(pip.calls[0]) == [one for name in ("harness", "workloads", "dev", "docs") for one in EXTRAS[name]]
    pip.refused = ["torch"]
    assert tool.install([], develop=True, run=pip, **NEITHER) == 1
    assert "the suite cannot be installed on Python" in capsys.readouterr().err


def test_a_package_without_a_wheel_is_left_out_with_one_line(tool, pip, capsys):
    pip.refused = ["torch", "envpool"]
    assert tool.install([], run=pip, **NEITHER) == 0
    of_torch, of_envpool = capsys.readouterr().err.splitlines()
    assert re.match(r"left out: envpool, which Python 3\.\d+\.\d+\S* cannot have: ERROR: no wheel", of_envpool)
    assert of_torch.startswith("left out: torch, ")
    alone = [asked(call) for call in pip.calls if len(asked(call)) == 1]
    assert [one for one in EXTRAS["workloads"] if [one] not in alone] == []


def test_without_the_harness_nothing_else_is_tried(tool, pip, capsys):
    pip.refused = ["jinja2"]
    assert tool.install([], run=pip, **NEITHER) == 1
    assert len(pip.calls) == 1
    assert "the suite cannot be installed on Python" in capsys.readouterr().err


def test_what_the_system_has_is_neither_installed_nor_constrained(tool, pip, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert tool.install([], run=pip, system={"numpy": "1.26", "torch": "2.5"}) == 0
    assert "of the system's Python: numpy 1.26, where the suite asks for numpy>=" in capsys.readouterr().out
    names = {tool.name_of(one) for call in pip.calls for one in asked(call)}
    assert names.isdisjoint({"numpy", "torch"})
    constraints = Path(pip.calls[0][2]).read_text(encoding="utf-8")
    assert "numpy==" not in constraints
    assert "scipy==" in constraints


def test_the_system_s_packages_count_only_where_the_environment_sees_them(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    site = tmp_path.parent / "site"
    (site / "Some_Package-2.0.dist-info").mkdir(parents=True)
    (site / "Some_Package-2.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: Some_Package\nVersion: 2.0\n"
    )
    monkeypatch.setattr(sys, "path", [str(site)])
    assert tool.of_the_system() == {}
    for said, found in (("false", {}), ("true", {"some-package": "2.0"})):
        (tmp_path / "pyvenv.cfg").write_text(f"include-system-site-packages = {said}\n")
        assert tool.of_the_system() == found


def test_wheels_are_fetched_for_a_machine_without_a_network(tool, pip, capsys, tmp_path):
    pip.refused = ["envpool"]
    (tmp_path / "some.whl").write_bytes(bytes(3_000_000))
    assert tool.collect(str(tmp_path), ["--extra-index-url", "here"], pip) == 0
    assert all(call[:3] == ["download", "--dest", str(tmp_path)] for call in pip.calls)
    fetched = {one for call in pip.calls for one in asked(call)}
    assert fetched == {
        "setuptools>=77",
        *(one for name in ("harness", "workloads", "mpi", "peers") for one in EXTRAS[name]),
    }
    said = capsys.readouterr()
    assert "1 wheels, 3 MB, for Python 3." in said.out
    assert said.err.startswith("left out: envpool")


def test_pip_s_last_error_is_the_reason_and_the_rest_is_in_the_log(tool, monkeypatch, tmp_path):
    monkeypatch.setattr(tool, "LOG", tmp_path / "log")
    monkeypatch.setattr(
        tool, "PIP", (sys.executable, "-c", "import sys; sys.exit('WARNING: x\\nERROR: first\\nERROR: last')")
    )
    assert tool.pip(["install"]) == "ERROR: last"
    monkeypatch.setattr(tool, "PIP", (sys.executable, "-c", ""))
    assert tool.pip([]) == ""
    assert "WARNING: x" in (tmp_path / "log").read_text()


def test_a_wheelhouse_has_a_place(tmp_path):
    done = subprocess.run(
        ["make", "wheelhouse", f"VENV={sys.prefix}"], cwd=ROOT, env={**os.environ, "MAKEFLAGS": ""},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "name the directory for the wheels: make wheelhouse WHEELS=../wheels" in done.stderr
