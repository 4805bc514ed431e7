"""Breaks rules of the kernel and of its transport, one at a time, and says which of them the tests do not notice.

`python tools/mutants.py [--jobs N] [WORD ...]`, where words choose mutants by a part of their names or files. A mutant
is one text in one file, replaced in a copy of the checkout. The tests named with it run there as `make test` runs
them. Then all tests of the kernel run, until one fails. Exit status 1 where a mutant survives.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reactorlib.tool import standard_output

ROOT = Path(__file__).resolve().parent.parent
KERNEL = ("tests/reactorlib",)
RANDOM = "tests/reactorlib/test_equivalence.py::test_programs_of_these_seeds_agree_with_the_interpreter"
LIMIT_S = 900.0
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider")


@dataclass(frozen=True)
class Mutant:
    """A change of `before`, which is in `file` once, to `after`. The files `tests` ought to notice it."""

    rule: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]


def _of(folder: str, file: str, *tests: str) -> tuple[str, tuple[str, ...]]:
    return f"reactorlib/{folder}/{file}.py", tuple(
        test if "::" in test else f"tests/reactorlib/{test}.py" for test in tests
    )


def _mutants(where: tuple[str, tuple[str, ...]], *rules: tuple[str, str, str]) -> list[Mutant]:
    file, tests = where
    return [Mutant(rule, file, before, after, tests) for rule, before, after in rules]


MUTANTS = [
    *_mutants(
        _of("worker", "event_queue", "test_event_queue", "conformance/test_time_and_tags", "conformance/test_logical_actions", RANDOM),
        ("a new time begins at microstep 0", "self.time = time\n            self.microstep = 0", "self.time = time"),
        ("what is due now comes after now", "if time > self.time:\n            due =", "if time >= self.time:\n            due ="),
        ("an action waits for its minimum delay", "delay = trigger.delay + extra_delay", "delay = extra_delay"),
        ("drop drops what comes too early after one that was handled", 'if policy == "drop":', 'if pending and policy == "drop":'),
        ("replace keeps the tag of the pending event", 'if pending and policy == "replace":', "if False:"),
        ("update takes the pending event back", 'if pending and policy == "update":', "if False:"),
        ("a spacing of 0 is one microstep", "if spacing else (tag[0], tag[1] + 1)", "if spacing else tag"),
        ("what spacing allows at its own tag is not moved", "tag = max(tag, _spaced(tags[-1], spacing))", "tag = _spaced(tags[-1], spacing)"),
        ("a second event of a tag takes the next microstep", "while at < len(more) and event in more[at]:", "while False:"),
    ),
    *_mutants(
        _of("worker", "coordinator", "conformance/test_ending", "conformance/test_time_and_tags", "conformance/test_physical_actions", "conformance/test_logical_actions"),
        ("a stop that is asked for comes at the next microstep", "self._end_at(self.queue.time)", "self._end_at(self.queue.time + 1)"),
        ("a stop before the first tag lets it run", "self._end_at(self.queue.time)", "self.queue.soon[self.shutdown] = None"),
        ("an event after 292 years never happens", "min(self._stop_time, LONGEST)", "self._stop_time"),
        ("a run without events ends at the next microstep", "self._end_at(queue.time)", "self._end_at(queue.time + 1)"),
        ("what is scheduled for the microstep after the next waits for it", "if events and not queue.ahead:", "if events:"),
        ("shutdown joins the events of the timeout", "if next_time == stop_time:", "if next_time == stop_time and due is None:"),
    ),
    *_mutants(
        _of("worker", "coordinator", "conformance/test_modes_timing"),
        ("a physical action of a mode that waits keeps its delay", "hold(event, time - called, value)", "hold(event, time - queue.time, value)"),
    ),
    *_mutants(
        _of("worker", "modes", "conformance/test_modes_timing", "conformance/test_modes_contents", "conformance/test_modes_connections", RANDOM),
        ("of several switches at a tag the last wins", "self._requested[self.program.modes[mode].siblings] = mode, history", "self._requested.setdefault(self.program.modes[mode].siblings, (mode, history))"),
        ("a reset enters the initial mode of what is within", "if record.parent in restarted and record.initial:", "if False:"),
        ("a mode within one that is not active is not active", "active = around and self._current", "active = self._current"),
        ("a reset forgets what was pending", "            self._waiting.pop(mode, None)\n", ""),
        ("history keeps what was pending", "self._waiting[mode] += self.queue.extract(self._members[mode])", "self.queue.extract(self._members[mode])"),
        ("a timer begins at its offset", "self.queue.time + event.trigger.delay, None", "self.queue.time, None"),
        ("startup comes once", '"startup": not state.entered', '"startup": True'),
        ("history does not restart timers", '"timer": state.fresh', '"timer": True'),
        ("a reset gives states their first values", "                restore()\n", "                pass\n"),
        ("what is scheduled for a mode that waits is kept", "self._waiting[event.mode].append((self.queue.schedule_at, delay, event, value))", "pass"),
    ),
    *_mutants(
        _of("worker", "walked_schedule", "conformance/test_modes_timing", "conformance/test_connections", "conformance/test_reactions", RANDOM),
        ("a reaction runs once a tag, whatever triggers it", "if rank not in queued:", "if True:"),
        ("what was present is absent at the next tag", "heard.reader.is_present = False", "pass"),
    ),
    *_mutants(
        _of("schedule", "compiler", "conformance/test_modes_timing", "conformance/test_deadlines", "conformance/test_reactions", "conformance/test_connections", RANDOM),
        ("any of its triggers makes a reaction run", 'return " or ".join(', 'return " and ".join('),
        ("a delayed connection of a mode that waits takes nothing", 'guards.insert(0, f"{state}.active")', "pass"),
        ("what was present is absent at the next tag, compiled", 'out.add(f"{self._cell(out, cell)}.is_present = False")', 'out.add("pass")'),
    ),
    *_mutants(
        _of("worker", "worker", "conformance/test_modes_timing", "conformance/test_reactions", "conformance/test_ports", RANDOM),
        ("shutdown reaches a mode that was entered", "if state.entered if is_last", "if state.active if is_last"),
        ("a reaction of a mode that waits does not run", "else state.active:", "else True:"),
        ("a mutable input is a copy", "deepcopy(source.value) if deep", "source.value if deep"),
    ),
    *_mutants(
        _of("worker", "worker", "conformance/test_deadlines"),
        ("a deadline counts from its tag", "interface.started + self._worker.now.time + self._ns", "interface.started + self._ns"),
        ("the handler of a deadline runs once a tag", "if self._handled != tag:", "if True:"),
    ),
    *_mutants(
        _of("elaboration", "dependencies", "conformance/test_reactions", "conformance/test_deadlines", "conformance/test_modes_timing", RANDOM),
        ("a reaction of a mode comes after those before it that have none", "last_in.get(mode, last_plain)", "last_in.get(mode)"),
        ("shutdown reactions of different modes run in class order", "mode = None if self.graph.hears_shutdown(reaction) else reaction.own_mode", "mode = reaction.own_mode"),
        ("a deadline is inferred from the earliest that depends", "deadline[at] = min(dues)", "deadline[at] = max(dues)"),
    ),
    *_mutants(
        _of("worker", "cells", "conformance/test_ports"),
        ("a multiport is present if any channel is", "return any(channel.is_present", "return all(channel.is_present"),
    ),
    *_mutants(
        _of("transport", "channel", "transport/test_channel", "transport/test_exchange"),
        ("a message is not written over one that was not read", "if number > self._limit:", "if number > self._limit + SLOTS:"),
        ("who waits for a message is woken", "self.states[self._receiver_state] = AWAKE\n            self.bell.ring()", "self.states[self._receiver_state] = AWAKE"),
        ("the sender learns of room", "if not number % PUBLISH:", "if not number % (PUBLISH << 20):"),
        ("messages keep their order", "backlog.append(self.receive())", "backlog.appendleft(self.receive())"),
        ("a message from a block has its own length", "(first, offset, room))[:length])", "(first, offset, room)))"),
    ),
    *_mutants(
        _of("transport", "codec_compiler", "transport/test_codec", "executors/test_same_values"),
        ("an array's shape is part of its structure", 'piece.guards.append(f"{name}.shape != {shape}")', "pass"),
        ("an encoder that fails occupies no memory", '"    commit(placed, ())"', '"    pass"'),
        ("one list in two places stays one", 'piece.twin = None if structure[0] == "(" else structure', "piece.twin = None"),
    ),
    *_mutants(
        _of("transport", "columns", "transport/test_columns"),
        ("what is in two places by column stays one", "self.is_exact = len({*self._ids}) == len(self._ids)", "self.is_exact = True"),
    ),
    *_mutants(
        _of("transport", "arrays", "transport/test_columns"),
        ("a gap between elements stays", "new + array.itemsize", "new"),
    ),
    *_mutants(
        _of("transport", "codec", "transport/test_codec", "transport/test_exchange"),
        ("a message that fails occupies no memory", "self._placing.commit(placed, ())", "pass"),
    ),
    *_mutants(
        _of("transport", "waiting", "transport/test_processors"),
        ("only a worker that shares a processor with a fellow leaves it", "if mine not in theirs:", "if False:"),
        ("who has left a processor may go anywhere again", "os.sched_setaffinity(0, allowed)", "pass"),
        ("a worker goes only where a processor is idle", "0 < _running() <= 1 + len(theirs)", "_running()"),
    ),
    *_mutants(
        _of("transport", "waiting", "transport/test_processors"),
        ("a worker that has paused asks where its fellows are", "(is_wanted or after_pause)", "is_wanted"),
        ("a worker that nobody keeps from running does not rest", "leave_processor(fellows) and is_wanted", "leave_processor(fellows)"),
    ),
    *_mutants(
        _of("transport", "arena", "transport/test_arena", "transport/test_codec", "transport/test_exchange"),
        ("a block that was sent twice is released twice", "sent[count] = sent.get(count, 0) + 1", "sent[count] = 1"),
        ("a buffer that somebody refers to is not used again", "if block.user:\n            return False", "if block.user == MESSAGE:\n            return False"),
        ("a block that a receiver still reads is not used again", "if releases[count] != times:", "if releases[count] > times:"),
        ("memory that reaches beyond a block is none of it", "inside = offset + nbytes <= block.offset + block.room", "inside = True"),
        ("a block has room for what is asked", "if block.funded < nbytes:", "if block.funded > nbytes:"),
    ),
]  # fmt: skip


def copy_of(checkout: Path, folder: Path) -> Path:
    """The parts of the checkout that the tests of the kernel need."""
    made = folder / "checkout"
    ignore = shutil.ignore_patterns("__pycache__", ".*", "results", "build", "dist")
    shutil.copytree(checkout, made, ignore=ignore, symlinks=True)
    return made


def survives(mutant: Mutant, checkout: Path) -> bool:
    """Whether no test fails that passes without the mutant."""
    path = checkout / mutant.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.before) != 1:
        raise SystemExit(f"{mutant.file}: {text.count(mutant.before)} times, expected once: {mutant.before}")
    for tests in (mutant.tests, KERNEL):
        path.write_text(text.replace(mutant.before, mutant.after), encoding="utf-8")
        try:
            noticed = not passes(tests, checkout)
        finally:
            path.write_text(text, encoding="utf-8")
        if noticed:
            if not sound(tests, checkout):
                raise SystemExit(f"these tests fail without a mutant: {', '.join(tests)}")
            return False
    return True


@cache
def sound(tests: tuple[str, ...], checkout: Path) -> bool:
    """Whether these tests pass as they are."""
    return passes(tests, checkout)


def passes(tests: Sequence[str], checkout: Path) -> bool:
    """Whether these tests pass; a run that does not end fails."""
    environment = os.environ | {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTEST_DEBUG_TEMPROOT"] = str(checkout.parent)  # sessions that share one disturb each other
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *OPTIONS, *tests],
        cwd=checkout, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        return process.wait(LIMIT_S) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return False


@standard_output.ended
def main() -> int:
    """Try the mutants that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="mutants at the same time (default: 1)")
    options = parser.parse_args()
    chosen = [m for m in MUTANTS if not options.words or any(w in f"{m.rule} {m.file}" for w in options.words)]
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        free: queue.Queue[Path] = queue.Queue()
        for number in range(options.jobs):
            free.put(copy_of(ROOT, Path(folder, str(number))))

        def tried(mutant: Mutant) -> tuple[Mutant, bool, float]:
            checkout, began = free.get(), time.monotonic()
            try:
                return mutant, survives(mutant, checkout), time.monotonic() - began
            finally:
                free.put(checkout)

        with ThreadPoolExecutor(options.jobs) as pool:
            for mutant, survived, seconds in pool.map(tried, chosen):
                verdict = "SURVIVES" if survived else "noticed "
                print(f"{verdict}  {seconds:5.0f} s  {mutant.file}: {mutant.rule}", flush=True)
                survivors += [mutant] if survived else []
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants are noticed")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
