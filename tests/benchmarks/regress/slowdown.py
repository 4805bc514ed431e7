"""A deliberate slowdown of the hottest path there is: in the code that each reaction's call is written into."""

import shutil

from benchmarks.regress.trees import MEASURED

COMPILER = "reactorlib/schedule/compiler.py"
CALL = "        out.add(call, indent, node)\n"
IDLE = '        out.add("time; " * {count}, indent)\n'  # expressions that change nothing and can't be left out


def slowed(source, target, count):
    """A copy of the measured code of `source` in which `count` idle expressions stand before each reaction."""
    for name in MEASURED:
        shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    compiler = target / COMPILER
    text = compiler.read_text()
    assert text.count(CALL) == 1
    compiler.write_text(text.replace(CALL, IDLE.format(count=count) + CALL))
    return target
