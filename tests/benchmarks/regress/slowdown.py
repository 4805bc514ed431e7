"""Deliberate slowdowns: in the code that each reaction's call is written into, in a workload, in the transport."""

import shutil
from dataclasses import dataclass

from benchmarks.regress.trees import MEASURED

COMPILER = "reactorlib/schedule/compiler.py"
CALL = "        out.add(f\"{out.name_of(Ref('call', node), name)}({arguments})\", 2 if present else 1, node)\n"


@dataclass(frozen=True)
class Place:
    """A line of a file, and the idling code that is written before it. `{count}` is its amount."""

    file: str
    line: str
    idle: str


_LOOP = "        for _ in range({count}):\n            pass\n"
# Expressions, which cannot be left out.
REACTION = Place(COMPILER, CALL, '        out.add("time; " * {count}, 2 if present else 1)\n')
WORKLOAD = Place(
    "workloads/gym_sampling/on_reactors.py", "        reply.set(self.sampler.step_message(step.value))\n", _LOOP
)
TRANSPORT = Place("reactorlib/transport/channel.py", "        word = length = len(message)\n", _LOOP)


def changed(source, target, path, before, after):
    """A copy of the measured code of `source`, in which `after` stands in one file instead of `before`."""
    for name in MEASURED:
        shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    text = (target / path).read_text()
    assert text.count(before) == 1
    (target / path).write_text(text.replace(before, after))
    return target


def slowed(source, target, count, place=REACTION):
    """The same, in which so much idling stands before the place's line."""
    return changed(source, target, place.file, place.line, place.idle.format(count=count) + place.line)
