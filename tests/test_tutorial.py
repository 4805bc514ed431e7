"""The tutorial's program grows as the page says: every change applies, and prints or fails as shown."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.pages import DOCS, ROOT

PAGE = DOCS / "tutorial.md"


def changed(program, diff):
    """A program after a change, whose old lines it has exactly once."""
    lines = diff.splitlines()
    old = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
    new = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
    assert program.count(old) == 1, old
    return program.replace(old, new)


def steps():
    """For each output of the page: the program that prints it, its test or None, and the output.

    A change that follows "A mistake" is taken back after its output.
    """
    program, test, pending, mistake, found = "", None, "", False, []
    for said, kind, block in re.findall(
        r"(\*\*A mistake)|^```(\S+)[^\n]*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        if said:
            mistake = True
        elif kind == "python" and "import pytest" in block:
            test = block
        elif kind == "python":
            pending = block
        elif kind == "diff":
            pending = changed(pending, block)
        elif kind == "text":
            found.append((pending, test, block))
            program = pending = program if mistake else pending
            mistake = False
    return program, found


PROGRAM, STEPS = steps()


def run(folder, *arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, capture_output=True, text=True, timeout=100, env=environment, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr.replace(f"{folder}/", "")


def ending(folder, program, test):
    """How a step ends: what it prints, its error message, or the last line of its test."""
    (folder / "pi.py").write_text(program)
    if test is not None:
        (folder / "test_pi.py").write_text(test)
        _, out, _ = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_pi.py")
        return re.sub(r" in [\d.]+s.*", "", out.splitlines()[-1]) + "\n"
    status, out, err = run(folder, "pi.py")
    assert (status == 0) == (not err)
    return err[err.rindex("reactorlib.errors.") :] if err else out


@pytest.mark.parametrize(("program", "test", "shown"), STEPS, ids=map(str, range(len(STEPS))))
def test_a_step_ends_as_shown(program, test, shown, tmp_path):
    assert ending(tmp_path, program, test) == shown  # `python -m tests.test_tutorial` writes the page anew


def test_the_finished_program_is_the_example():
    assert (ROOT / "examples" / "pi.py").read_text() == PROGRAM


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        found = iter([ending(Path(made), program, test) for program, test, _ in STEPS])
    page = PAGE.read_text(encoding="utf-8")
    shown = re.sub(
        r"(^```text\n).*?(^```$)", lambda ends: ends[1] + next(found) + ends[2], page, flags=re.MULTILINE | re.DOTALL
    )
    PAGE.write_text(shown, encoding="utf-8")
