"""Plays in a process of the check's own: its start, its end and its results."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from reactorlib.gymnasium.isolation.report import HASH
from reactorlib.gymnasium.isolation.server import IMPORT, Job, ended_by

_GRACE_S = 2.0  # for a server that should have ended by itself

Played = dict[str, Any]


def played(job: Job) -> dict[tuple[str, ...], Played]:
    """The results of a server: of each play that has ended in time."""
    results = Path(job.folder)
    results.mkdir()
    changed = {"PYTHONHASHSEED": "1" if HASH in job.changed else "0", "PYTHONDONTWRITEBYTECODE": "1"}
    program = (
        f"import sys; sys.path[:] = {job.path!r}; import reactorlib.gymnasium.isolation.server as s; s.serve_stdin()"
    )
    told = results / "stderr"  # a pipe would be open for as long as what an environment has started
    with told.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=stderr,
            env=os.environ | changed, start_new_session=True,
        )  # fmt: skip
    is_late = False
    try:
        process.communicate(pickle.dumps(tuple(job)), job.limit_s + _GRACE_S)
    except subprocess.TimeoutExpired:
        is_late = True
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # also what its environments have started
        process.wait()
    if process.returncode == 1 and (traceback := told.read_text(errors="replace")):
        raise RuntimeError(f"the check failed:\n{traceback}")
    error = results / IMPORT
    if error.exists():
        raise RuntimeError(pickle.loads(error.read_bytes())["error"])
    found = {play: results / ".".join(play) for play in job.plays}
    ended = {play: pickle.loads(path.read_bytes()) for play, path in found.items() if path.exists()}
    if len(ended) < len(found) and not is_late:
        raise RuntimeError(f"it cannot be imported: {ended_by(process.returncode)}")
    return ended
