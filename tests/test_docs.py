"""README and the pages under docs: every command runs, and every link leads somewhere. Examples: test_doc_examples."""

import csv
import importlib.util
import json
import re
import shlex
import shutil
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from rich.console import Console

import reactorlib
import reactorlib.gymnasium
import reactorlib.lf
from benchmarks.regress.__main__ import options as regress_options
from harness.cli.commands import COMMANDS, main
from harness.cli.options import parser
from harness.report import published
from harness.report.figures.figure_catalogue import FIGURES
from harness.studies.advise import advising
from reactorlib.cli import main as kernel_main
from reactorlib.cli import parsers
from tests import pages
from tests.pages import DOCS, PAGES, ROOT, execute
from tools import command_lines, quotes

HARNESS = "python -m harness "
KERNEL = "python -m reactorlib "
TITLES = ("Ray", "train.py", "job.sh", "test_pi.py")  # programs of the reader's; other titles are files of ours


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_every_block_is_of_a_kind_that_a_test_runs_or_reads(page):
    for kind, block in pages.blocks(page):
        language, _, title = kind.partition(" title=")
        assert language in ("python", "text", "sh", "bash", "yaml", "lf", "diff"), kind
        if language == "python":
            compile(block, pages.name(page), "exec")
        if language == "yaml":
            yaml.safe_load(block)
        if language == "bash":
            assert execute(["bash", "-n", "-c", block]).returncode == 0
        if title and title.strip('"') not in TITLES:
            assert " ".join(block.split()) in " ".join((ROOT / title.strip('"')).read_text().split())


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_programs_in_lingua_franca_have_no_fault(page, tmp_path):
    for kind, block in pages.blocks(page):
        if kind == "lf":
            (tmp_path / "Shown.lf").write_text(block)
            assert execute([sys.executable, "-m", "reactorlib", "check", tmp_path / "Shown.lf"]).returncode == 0


@pytest.mark.parametrize("command", pages.commands("make "))
def test_make_knows_the_targets(command):
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    done = execute(shlex.split(command.replace("make ", "make --dry-run ", 1)), cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_make_refuses_variables_that_it_does_not_know():
    done = execute(["make", "--dry-run", "advise", "ENVS=CartPole-v1"], cwd=ROOT)
    assert done.returncode == 2
    assert "ENVS: no such variable here; there are PYTHON " in done.stderr


@pytest.mark.parametrize("directory", ["my run", "the user's"])
def test_make_takes_a_directory_of_any_name(directory, tmp_path):
    results, python = tmp_path / directory / "grid.json", tmp_path / "venv" / "bin" / "python"
    for path in (results, python):
        path.parent.mkdir(parents=True)
    results.touch()
    python.write_text("#!/bin/sh\nprintf '<%s>' \"$@\"")
    python.chmod(0o755)
    made = ["-o", f"{tmp_path}/venv/.measures", f"VENV={tmp_path}/venv", f"RESULTS={results.parent}"]
    done = execute(["make", "--no-print-directory", "bench", *made], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert f"<--output><{results.parent}><--resume>" in done.stdout
    assert done.stdout.rstrip().endswith(f"<report><{results.parent}>")


@pytest.mark.parametrize("command", pages.commands(HARNESS))
def test_the_harness_knows_the_options(command):
    assert parser(COMMANDS).parse_args(shlex.split(command.removeprefix(HARNESS))).command


@pytest.mark.parametrize("command", [line for line in pages.commands(HARNESS + "run") if "--resume" not in line])
@pytest.mark.usefixtures("forgotten")
def test_the_harness_plans_the_runs(command, tmp_path, monkeypatch):
    of_the_reader = tmp_path / "path" / "to" / "file.py"
    of_the_reader.parent.mkdir(parents=True)
    of_the_reader.write_text("from gymnasium.envs.classic_control import CartPoleEnv as make_env")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert main([*shlex.split(command.removeprefix(HARNESS)), "--dry-run"]) == 0


@pytest.mark.parametrize("command", [line for line in pages.commands(KERNEL) if len(line.split()) > 4])
def test_reactorlib_does_what_is_typed(command, tmp_path, monkeypatch, capsys):
    words = shlex.split(command.removeprefix(KERNEL))
    if words[0] in ("check-isolation", "evaluate") or "Program.lf" in words or words[-2:] == ["--executor", "mpi"]:
        assert parsers()[0].parse_args(words)  # needs a launcher of ranks, or a file of the reader's
        return
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "docs" / "diagrams").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    status = kernel_main(words)
    assert status == ("cycle.py" in command or words[0] == "seeds"), capsys.readouterr().err
    for drawn in (tmp_path / "docs" / "diagrams").iterdir():
        assert drawn.read_bytes() == (DOCS / "diagrams" / drawn.name).read_bytes()


def shown_outputs():
    """Each command of the kernel that is followed by its output."""
    for page in PAGES:
        for (kind, block), (following, output) in pairwise(pages.blocks(page)):
            if kind == "sh" and following == "text" and block.startswith(KERNEL + "source"):
                yield pytest.param(block, output, id=f"{pages.name(page)}:{block.strip()}")


@pytest.mark.parametrize(("command", "shown"), list(shown_outputs()))
def test_a_schedule_is_shown_as_it_is(command, shown, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert kernel_main(shlex.split(command.removeprefix(KERNEL))) == 0
    assert capsys.readouterr().out == shown


OTHERS = ("make ", HARNESS, KERNEL, "python -m reactorlib.mpi ")


@pytest.mark.parametrize(
    "line",
    sorted({
        line.strip().removeprefix(".venv/bin/")
        for page in PAGES
        for kind, block in pages.blocks(page)
        if kind == "sh"
        for line in block.splitlines()
        if line.strip() and not line.strip().removeprefix(".venv/bin/").startswith(OTHERS)
    }),
)  # fmt: skip
def test_other_commands_name_what_there_is(line):
    words = shlex.split(line, comments=True)
    if words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert set(re.findall(r"\w+", words[2].partition("[")[2])) <= set(extras)
    elif words[0] == "mpiexec":
        _, _, ranks, python, _, module, *arguments = words
        assert (int(ranks) > 1, python, module) in [(True, "python", "reactorlib"), (True, "python", "reactorlib.mpi")]
        assert module == "reactorlib.mpi" or parsers()[0].parse_args(arguments).executor == "mpi"
    elif words[0] == "docker":
        assert " ".join(words[:2]) in (ROOT / "Dockerfile").read_text()
    elif words[0] == "eval":
        assert shutil.which(re.findall(r"[\w-]+", words[1])[0], path=Path(sys.executable).parent)
    elif words[0].startswith("CONTRACT="):
        file, _, _ = words[0].removeprefix("CONTRACT=").partition(":")
        assert words[1:5] == [".venv/bin/python", "-m", "pytest", "-q"]
        assert all((ROOT / name).is_file() for name in (file, words[5]))
    elif words[0] in ("cd", "git"):  # tests/benchmarks/regress tries a bisection
        module, *arguments = words[words.index("-m") + 1 :] if "-m" in words else ["benchmarks.regress"]
        assert (module, bool(regress_options().parse_args(arguments))) == ("benchmarks.regress", True)
    elif words[0] == "cp":
        assert (ROOT / words[-1]).is_dir()
    elif words[1] == "-m":
        assert importlib.util.find_spec(words[2])
    else:
        assert words[0] == "python"
        assert (ROOT / words[1]).is_file()


def test_the_page_of_command_lines_is_as_its_tool_writes_it():
    assert command_lines.PAGE.read_text() == command_lines.page()  # `python -m tools.command_lines` writes it again


def test_the_advice_that_is_shown_is_the_recorded_one(capsys):
    (shown,) = [block for _, block in pages.blocks(DOCS / "your-environment.md") if "a step takes" in block]
    answered = json.loads((ROOT / "results" / "advice" / "advise.json").read_text(encoding="utf-8"))
    advising.show(answered, Console(width=120, highlight=False, markup=False))
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == shown.splitlines()


def test_all_files_that_are_named_exist():
    named = {
        path
        for page in PAGES
        for path in re.findall(
            r"`((?:workloads|plots|results|reactorlib|examples|tests|docs)/[\w./-]+\w)`", pages.prose(page)
        )
    }
    made = ("results/runs", "results/latest", "results/advise")
    assert [path for path in sorted(named) if not path.startswith(made) and not (ROOT / path).exists()] == []
    assert named


def anchors(page):
    """The anchors that link to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", pages.prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_links_within_the_repository_lead_somewhere(page):
    for target in pages.links(page):
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def named_in(navigation):
    for entry in navigation:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from [value] if isinstance(value, str) else named_in(value)


def test_the_navigation_has_every_page_once():
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert sorted(named_in(navigation)) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


@pytest.mark.parametrize(
    "module", [reactorlib, reactorlib.gymnasium, reactorlib.lf], ids=lambda module: module.__name__
)
def test_the_reference_has_every_public_name_once(module):
    page = DOCS / "api" / f"{module.__name__.rpartition('.')[2]}.md"
    found = re.findall(rf"^- \[?`{module.__name__}\.(\w+)`", page.read_text(), re.MULTILINE)
    assert sorted(found) == sorted(module.__all__)


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_a_page_quotes_files_and_docstrings_as_they_are(page):
    assert quotes.quoted(page) == page.read_text(), "run python -m tools.quotes"
    assert not re.search(r"^(--8<--|:::)", page.read_text(), re.MULTILINE)  # which readers on GitHub would see


def ratios(figure):
    """How many times as fast as Ray the paper's reactors were in a figure, as the page about it writes it."""
    systems = published.series(figure)
    found = [theirs.value / systems["lf"].points[x].value for x, theirs in systems["ray"].points.items()]
    found = [1 / ratio if systems["lf"].metric == "throughput" else ratio for ratio in found]
    return f"{min(found):.2f}x to {max(found):.2f}x"


def test_the_page_of_the_paper_has_each_of_its_figures_with_its_number():
    rows = re.findall(r"^\| .* \| (.*) \| `(\w+)\.svg` \|$", (DOCS / "paper.md").read_text(), re.MULTILINE)
    with published.PATH.open(newline="") as file:
        figures = {row["figure"] for row in csv.DictReader(file)} - {"multi_agent_episodes"}
    assert {name.replace("_steps", "_episodes"): told for told, name in rows if name != "multi_agent_steps"} == {
        figure: ratios(figure) for figure in figures
    }
    assert {name for _, name in rows} <= FIGURES.keys()
    for _, figure in rows:
        assert f"results/reference/figures/{figure}.svg" in (DOCS / "paper.md").read_text()


def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    done = execute([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "api" / "reactorlib.html").read_text()
    assert 'id="reactorlib.Session"' in page
    assert ">>>" not in re.sub(r"<code.*?</code>", "", page, flags=re.DOTALL).replace("&gt;", ">")
    assert (tmp_path / "site" / "results" / "reference" / "figures" / "gym_sampling.svg").exists()
