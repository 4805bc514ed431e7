"""`python -m harness advise`: from the command line to the answer on the screen, its picture and its JSON."""

import argparse
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from harness import quantity
from harness.errors import UsageError
from harness.measure.measured_processes import SubjectError, call
from harness.report import terminal
from harness.store.files import write_json
from harness.studies.advise import choices
from harness.studies.advise.answer import Answer
from harness.studies.advise.profile import WORKLOAD, Profile
from reactorlib.cpus import available_cpus
from reactorlib.gymnasium.isolation import check_isolation
from reactorlib.tool.standard_output import to_stderr
from workloads.catalogue import make_task
from workloads.sampling import SamplingTask

OUTPUT = Path("results/advise")
_WIDTH_ELSEWHERE = 120
_PROFILE_LIMIT_S = 120.0
_CHECK_LIMIT_S = 20.0
_BAR, _REST = 24, 72  # characters: of a bar at most, of the other columns

Answered = Mapping[str, Any]  # as of `Answer.as_json`


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Measure and answer; the exit status. `console`: for progress. Raises UsageError and ParameterError."""
    task = make_task(WORKLOAD, {"env": parsed.env, "actors": parsed.actors, "seed": parsed.seed})
    output: Path = parsed.output or OUTPUT / re.sub(r"[^\w.-]+", "-", f"{task.scenario}-{task.actors}")
    unwritable = _unwritable(output)
    if unwritable and parsed.output is not None:
        raise UsageError(f"{unwritable}; choose another --output")
    if unwritable:
        console.print(f"{unwritable}: the answer will be printed only; --output names another directory")
    with to_stderr():  # the answer is alone on standard output, whatever an environment prints
        answer = _measured(task, parsed.seconds, console)
    answered = answer.as_json()
    if parsed.json:
        print(json.dumps(answered, indent=2), flush=True)
    else:
        show(answered, terminal.output(_WIDTH_ELSEWHERE))
    if not unwritable:
        output.mkdir(parents=True, exist_ok=True)
        picture, file = _draw(answer, output), output / "advise.json"
        write_json(file, answered)
        console.print(f"written: {picture}, {file}")
    return 0


def _unwritable(directory: Path) -> str:
    """Why this directory cannot be written to, or made, or nothing. Leaves no file."""
    there = next(one for one in (directory, *directory.absolute().parents) if os.path.lexists(one))
    try:
        with tempfile.TemporaryFile(dir=there):
            return ""
    except OSError as error:
        return f"{directory}: cannot be written ({error.strerror})"


def _measured(task: SamplingTask, seconds: float, console: Console) -> Answer:
    env, cores = task.env, available_cpus()
    console.print(f"stepping {env} ...")
    try:
        profile = Profile(**call("harness.studies.advise.profile:measure", [env, task.seed], _PROFILE_LIMIT_S))
    except SubjectError as error:
        told = str(error)  # which names the environment if it is a ParameterError
        raise UsageError(told if told.startswith("env: ") else f"{env}: {told}") from None
    console.print("checking what it depends on ...")
    try:
        isolation = check_isolation(task.make_environment, seed=task.seed, limit_s=_CHECK_LIMIT_S)
    except RuntimeError as error:
        console.print(f"which failed: {error}")
        isolation = None
    started = set[str]()

    def tell(name: str) -> None:
        if name not in started:
            console.print(f"starting {name} ...")
        started.add(name)

    console.print(f"measuring for about {quantity.duration_s(seconds)}, in turns:")
    parameters = {"env": env, "actors": task.actors, "seed": task.seed}
    found = choices.run(parameters, profile, cores, seconds, tell)
    if failure := found.failures.get(choices.LOOP):
        raise UsageError(f"{env}: {failure}")
    return Answer(env, task.actors, task.seed, cores, profile, found, isolation)


def _draw(answer: Answer, directory: Path) -> Path:
    from harness.report.figures import study_figures  # takes a second
    from plots import page, style

    title = f"{answer.env}, {answer.actors} of them on {answer.cores} cores"
    rounds_ns = {one.backend: one.round_ns for one in answer.costs}
    chart = study_figures.advice(title, " ".join(filter(None, answer.headline())), rounds_ns, answer.ideal_ns)
    return style.save(page.render(chart), directory / "advise.svg")


def show(answered: Answered, console: Console) -> None:
    """Print an answer and the command that measures it in full."""
    step, size = quantity.show(answered["step_ns"]["mean"], "ns"), quantity.show(answered["message_bytes"], "bytes")
    about = f"{answered['env']} x {answered['actors']} on {answered['cores']} cores"
    console.print(f"{about}: a step takes {step}, its message has {size}\n")
    for sentence in answered["sentences"]:
        console.print(sentence)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "", "a round", "speed", "95 %", "not stepping", ""):
        table.add_column(heading, justify="left" if heading == "" else "right", no_wrap=True)
    for cost, bar in zip(answered["backends"], _bars(answered, max(1, min(_BAR, console.width - _REST))), strict=True):
        mark, speed = "->" if cost["backend"] == answered["best"] else "", cost["speed"]
        table.add_row(
            mark, cost["backend"], quantity.show(cost["round_ns"], "ns"), f"{speed['value']:.2f}x",
            f"[{speed['low']:.2f}, {speed['high']:.2f}]", f"{100 * cost['share_not_stepping']:.0f} %", bar,
        )  # fmt: skip
    console.print()
    console.print(table)
    starts = answered["starts"]
    console.print(
        "speed: of the plain loop's; bars: of a round, # stepping on all cores, - what comes on top; 95 %: over "
        + (f"{starts} starts" if starts > 1 else "turns of one start, so without what differs from start to start")
    )
    console.print(f"\nTo measure it in full:\n  {answered['proof']}", soft_wrap=True)


def _bars(answered: Answered, room: int) -> Iterator[str]:
    longest = max(one["round_ns"] for one in answered["backends"])
    for one in answered["backends"]:
        whole = max(1, round(room * one["round_ns"] / longest))
        solid = min(whole, round(room * answered["ideal_round_ns"] / longest))
        yield "#" * solid + "-" * (whole - solid)
