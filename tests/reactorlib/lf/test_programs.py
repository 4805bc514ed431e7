"""Programs as Lingua Franca's own test authors would write them, by rule, each on every executor.

A file of programs/ holds those of one rule. `=== name` begins a program, `--- path` another file of it. Its output
stands in lines with `>`: in this order on one thread, in any order elsewhere. `~` is a warning, `!` a fault that keeps
it from running. `@` names the executor that is chosen for it, which then takes the place of processes.
"""

import io
import sys
import warnings
from pathlib import Path

import pytest

from reactorlib import ElaborationError, elaborate, run
from reactorlib.lf import LinguaFrancaWarning, execution, load, run_options

TARGET = "target Python { fast: true }\n"


class Program:
    """One program of a file: its files by path, and the expected result."""

    def __init__(self, rule, text):
        self.name, _, text = text.partition("\n")
        self.id = f"{rule}-{self.name}"
        self.files = {}
        self.expected, self.warned, self.faults, notes = [], [], [], []
        kinds = {">": self.expected, "~": self.warned, "!": self.faults, "@": notes}
        path = "Main.lf"
        for line in text.splitlines():
            if not self.files and not line.startswith("--- "):
                self.files[path] = []
            if line.startswith("--- "):
                path = line[4:]
                self.files[path] = []
            elif line[:1] in kinds and line[1:2] in ("", " "):
                kinds[line[:1]].append(line[2:])
            else:
                self.files[path].append(line)
        self.chosen = notes[0] if notes else "processes"

    def write(self, folder):
        for path, lines in self.files.items():
            text = "\n".join(lines).strip("\n") + "\n"
            if path.endswith(".lf") and "target" not in text.split(maxsplit=1)[0]:
                text = TARGET + text
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return folder / next(iter(self.files))


PROGRAMS = [
    Program(path.stem, text)
    for path in sorted(Path(__file__).with_name("programs").glob("*.txt"))
    for text in ("\n" + path.read_text(encoding="utf-8")).split("\n=== ")[1:]
]


def test_there_are_enough_and_each_has_a_name_of_its_own():
    assert len({program.id for program in PROGRAMS}) == len(PROGRAMS) >= 150
    assert all(program.expected or program.faults for program in PROGRAMS)


@pytest.mark.parametrize("executor", ["inline", "threads", "processes"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_a_program(program, executor, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    whole_lines = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), line_buffering=True)
    monkeypatch.setattr(sys, "stdout", whole_lines)  # from several threads
    before = set(sys.modules)
    path = program.write(tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LinguaFrancaWarning)
        try:
            faults, result = [], _run(program, path, executor)
        except ElaborationError as error:
            faults = [fault.replace(f"{tmp_path}/", "") for fault in error.faults]
    for name in set(sys.modules) - before:  # the program's own modules
        file = getattr(sys.modules[name], "__file__", None) or ""
        if str(tmp_path) in file and file.endswith(".py"):
            del sys.modules[name]
    assert [fault[: len(told)] for fault, told in zip(faults, program.faults, strict=True)] == program.faults
    messages = [str(w.message) for w in caught if w.category is LinguaFrancaWarning]
    assert messages == program.warned
    if faults:
        return
    assert result.executor == (program.chosen if executor == "processes" else executor)
    lines = capfd.readouterr().out.replace(str(tmp_path), "DIR").splitlines()
    assert (lines if executor == "inline" else sorted(lines)) == (
        program.expected if executor == "inline" else sorted(program.expected)
    )


def _run(program, path, executor):
    main = load(path)
    made = elaborate(main)
    asked = None if executor == "processes" and program.chosen != "processes" else executor
    options, _ = execution(made, asked, None if executor == "inline" else 3)
    return run(made, **{**run_options(main), **options})
