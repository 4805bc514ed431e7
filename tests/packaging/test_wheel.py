"""The wheel installs `reactorlib` alone, and it works alone. Its tests run there as well."""

import doctest
import email
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import reactorlib

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 110
BUILT = pytest.mark.slow(reason="builds the distributions and environments to install them in")
README = (ROOT / "reactorlib" / "README.md").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
DISTRIBUTIONS = "import importlib.metadata as m; print(*(d.name for d in m.distributions()))"
SESSION = """
from reactorlib import Input, Output, Reactor, Session, reaction

class Double(Reactor):
    number = Input[int]()
    twice = Output[int]()

    @reaction(number, effects=twice)
    def compute(self, number, twice):
        twice.set(2 * number.value)

for executor in ("inline", "threads", "processes"):
    with Session(Double, executor=executor) as session:
        step = session.stepper(inputs=("number",), outputs=("twice",))
        print(step(21))
"""


def execute(*command, limit_s=LIMIT_S, **options):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "REACTORLIB_"))}
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True, text=True, timeout=limit_s, check=False, env=clean, **options,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The source distribution, and the wheel that is built from it."""
    pytest.importorskip("setuptools")
    told = execute(sys.executable, ROOT / "tools" / "package.py", tmp_path_factory.mktemp("built"))
    sdist, wheel = map(Path, told.splitlines())
    return sdist, wheel


@pytest.fixture(scope="module")
def python(built, tmp_path_factory):
    """An interpreter in an environment that holds the wheel and nothing else."""
    home = tmp_path_factory.mktemp("environment") / "venv"
    execute(sys.executable, "-m", "venv", "--without-pip", home)
    installed = home / "bin" / "python"
    options = ("--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check")
    execute(sys.executable, "-m", "pip", "--python", installed, "install", *options, built[1])
    return installed


def needs_of(name, found):
    """The distributions that this one needs to be imported, itself among them."""
    if name.lower() not in found:
        found[name.lower()] = importlib.metadata.distribution(name)
        for needed in found[name.lower()].requires or ():
            if "extra ==" not in needed and "python_version <" not in needed and "win32" not in needed:
                needs_of(re.match(r"[\w.-]+", needed).group(), found)
    return found


def lend(distribution, site):
    """Have another environment see what this one has installed."""
    for top in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
        if not (site / top).exists():
            (site / top).symlink_to(distribution.locate_file(top))


@BUILT
def test_the_wheel_holds_one_package_and_its_types(built):
    sdist, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith("METADATA"))
        told = email.message_from_bytes(archive.read(metadata))
    assert {name.partition("/")[0] for name in names} == {"reactorlib", metadata.partition("/")[0]}
    assert "reactorlib/py.typed" in names
    assert told["Version"] == reactorlib.__version__
    assert told["License-Expression"] == "Apache-2.0"
    assert [needed for needed in told.get_all("Requires-Dist") if "extra ==" not in needed] == []
    assert {*told.get_all("Provides-Extra")} == set(EXTRAS) > {"gymnasium", "mpi", "lf"}
    with tarfile.open(sdist) as archive:
        assert {"harness", "workloads", "plots", "benchmarks"}.isdisjoint(
            name.split("/")[1] for name in archive.getnames() if "/" in name
        )


@BUILT
def test_the_page_on_pypi_has_no_relative_link(built):
    with zipfile.ZipFile(built[1]) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        page = email.message_from_bytes(archive.read(metadata)).get_payload()
    assert "# " in page
    assert [link for link in re.findall(r"\]\(([^)]+)\)", page) if not link.startswith(("http", "#"))] == []


def test_links_into_the_repository_are_absolute_where_its_address_is_known(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import package

    assert doctest.testmod(package).failed == 0
    page = package.pypi_page(README, "https://host/me/it", "v1")
    paths = re.findall(r"\]\(https://host/me/it/blob/v1/([^)]+)\)", page)
    assert "docs/tutorial.md" in paths
    assert all((ROOT / path).exists() for path in paths)


@BUILT
def test_pip_installs_it_from_a_checkout_and_from_an_index_with_an_extra(built, tmp_path):
    """As users do, with packages of PyPI. Skipped where PyPI cannot be reached."""
    index = tmp_path / "simple" / "reactorlib"
    index.mkdir(parents=True)
    for made in built:
        shutil.copy(made, index)
    (index / "index.html").write_text("".join(f'<a href="{made.name}">{made.name}</a>\n' for made in built))
    checkout = tmp_path / "checkout"
    with tarfile.open(built[0]) as archive:
        archive.extractall(checkout, filter="data")
    (source,) = checkout.iterdir()
    ways = {
        "checkout": (str(source),),
        "index": ("--extra-index-url", (tmp_path / "simple").as_uri(), "reactorlib[gymnasium]"),
    }
    for name, asked in ways.items():
        execute(sys.executable, "-m", "venv", tmp_path / name)
        python = tmp_path / name / "bin" / "python"
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        done = subprocess.run([*pip, *asked], capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if "No matching distribution found for setuptools" in done.stderr or "for gymnasium" in done.stderr:
            pytest.skip("PyPI cannot be reached")
        assert done.returncode == 0, done.stderr
        assert execute(python, "-c", SESSION, cwd=tmp_path).split() == ["42", "42", "42"]
    step = (
        "import reactorlib.gymnasium as g; e = g.make_vec('CartPole-v1', 2); print(e.reset(seed=1)[0].shape); e.close()"
    )
    assert execute(tmp_path / "index" / "bin" / "python", "-c", step, cwd=tmp_path).strip() == "(2, 4)"


@BUILT
def test_alone_in_an_environment_it_does_what_the_readme_says(python, tmp_path):
    listed = execute(python, "-c", DISTRIBUTIONS, cwd=tmp_path)
    assert listed.split() == ["reactorlib"]
    (example,) = (block for block in blocks("python") if "run(Main" in block)
    (shown,) = blocks("text")
    (tmp_path / "example.py").write_text(example)
    assert execute(python, "example.py", cwd=tmp_path) == shown
    assert execute(python, "-c", SESSION, cwd=tmp_path).split() == ["42", "42", "42"]
    execute(python, "-m", "reactorlib", "graph", "example.py:Main", "-o", "drawn.svg", cwd=tmp_path)
    assert "</svg>" in (tmp_path / "drawn.svg").read_text(encoding="utf-8")
    execute(python.parent / "reactorlib", "check", "example.py:Main", cwd=tmp_path)


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@BUILT
@pytest.mark.timeout(600)
def test_the_tests_of_the_kernel_run_from_the_wheel_without_what_the_suite_needs(built, python, tmp_path):
    site = next(python.parent.parent.glob("lib/python*/site-packages"))
    needed: dict[str, importlib.metadata.Distribution] = {}
    for name in ("pytest", "hypothesis", "pytest-timeout"):
        needs_of(name, needed)
    for distribution in needed.values():
        lend(distribution, site)
    assert "numpy" not in needed
    with tarfile.open(built[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    (source / "reactorlib").rename(tmp_path / "out of the way")
    where = ("tests/reactorlib/conformance", "tests/reactorlib/lf", "tests/reactorlib/diagram/test_build.py")
    told = execute(python, "-m", "pytest", "-q", "-x", f"--basetemp={tmp_path}/pytest", *where, cwd=source, limit_s=590)
    assert int(re.search(r"(\d+) passed", told).group(1)) > 1500
    assert "needs numpy" in told


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_lock_has_what_the_extras_ask_for(extra):
    names = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert {re.match(r"[\w.-]+", needed).group().lower() for needed in EXTRAS[extra]} <= names


def test_the_changelog_tells_of_this_version():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(reactorlib.__version__)}\b", changes, re.MULTILINE)
    assert f"\nversion: {reactorlib.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))["version"] == reactorlib.__version__


def test_a_lock_is_written_again_in_the_same_form():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import lock
    finally:
        sys.path.pop(0)
    old = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    versions = dict(line.split("==") for line in old.splitlines() if not line.startswith("#"))
    more = {"reactorlib": "0.1.0", "nvidia-cublas": "1", "triton": "2", "torch": f"{versions['torch']}+cpu"}
    assert lock.text(versions | more, old) == old
