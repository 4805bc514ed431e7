"""`harness doctor`: runs the probes, each with a time limit, and prints all that a report of trouble needs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.measure.measured_processes import WORKER_VARIABLES
from harness.store import machine
from harness.studies.doctor import circumstances, probes

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 120.0  # a Ray that does not start reports it after a minute of its own
_NOT_HERE = ("ModuleNotFoundError", "ImportError", "workloads.parameter.UnsupportedError")


@dataclass(frozen=True)
class ProbeResult:
    """The result of a probe: "works", "fails", or "absent" where what it needs is not installed."""

    name: str
    state: str
    words: str
    needed: bool


def run(names: Iterable[str], as_json: bool, console: Console) -> int:
    """Run the probes of these names and print the findings; 1 where something fails that the suite needs."""
    described, session = machine.describe(), machine.describe_session(["doctor"], WORKER_VARIABLES)
    harms = circumstances.harms(described, session, circumstances.look())
    found = [probed(name) for name in names]
    if as_json:
        told = {"machine": described, "session": session, "works": [asdict(one) for one in found], "harms": harms}
        print(json.dumps(told, indent=2))
    else:
        for line in _lines(described, session, found, harms):
            console.print(line)
    return int(any(one.needed and one.state != "works" for one in found))


def probed(name: str) -> ProbeResult:
    """Run one probe to its end or to its time limit."""
    needed, command = name in probes.NEEDED, [sys.executable, "-m", "harness.studies.doctor.probes", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return ProbeResult(name, "fails", f"did not end within {LIMIT_S:.0f} s", needed)
    if done.returncode == 0:
        return ProbeResult(name, "works", probes.last_line(done.stdout), needed)
    reason = probes.last_line(done.stderr) or f"ended with {done.returncode}"
    return ProbeResult(name, "absent" if reason.startswith(_NOT_HERE) else "fails", reason, needed)


def _lines(
    described: Mapping[str, Any], session: Mapping[str, Any], found: Iterable[ProbeResult], harms: Iterable[str]
) -> Iterator[str]:
    cpu, interpreter = described["cpu"], described["interpreter"]
    gil = "free-threaded" if interpreter["free_threaded_build"] else "with a GIL"
    yield "The machine"
    yield f"  {cpu['model']}, {cpu['architecture']}; {described['cores_allowed']} of {cpu['cores']} cores are allowed"
    yield f"  {described['memory_gib']} GiB, {described['kernel']}"
    yield f"  {interpreter['implementation']} {interpreter['version']}, {gil}"
    yield f"  {', '.join(f'{name} {version}' for name, version in described['packages'].items())}"
    yield f"  commit {session['commit'] or 'unknown'}{', with changes' if session['dirty'] else ''}"
    yield "What works"
    for one in found:
        yield f"  {one.state:<7} {one.name}: {one.words}{'' if one.needed else ' (not needed)'}"
    yield "What would harm a measurement"
    yield from [f"  {harm}" for harm in harms] or ["  nothing was seen"]
