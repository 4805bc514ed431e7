"""Runs of examples/resume_ppo.py in processes of their own, some of which are killed in a step."""

import importlib.util
import multiprocessing
import os
import signal
import sys
from pathlib import Path

import torch  # noqa: F401  # forked processes have it then

from reactorlib.gymnasium import ReactorVectorEnv

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "resume_ppo.py"
LIMIT_S = 600


def trained(arguments: list[str], checkpoint: Path, kill_at: int | None = None) -> str:
    """Train, or be killed in this step; `checkpoint` is what is left. Returns the digest of the weights."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_train, args=(theirs, [*arguments, "--checkpoint", str(checkpoint)], kill_at))
    process.start()
    theirs.close()
    try:
        digest = ours.recv() if ours.poll(LIMIT_S) else "late"
    except EOFError:
        digest = ""
    process.join(LIMIT_S)
    assert process.exitcode == (0 if kill_at is None else -signal.SIGKILL)
    process.close()
    return str(digest)


def _train(pipe, arguments, kill_at):
    spec = importlib.util.spec_from_file_location("resume_ppo", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    step, taken = ReactorVectorEnv.step, 0

    def counted(envs, actions):
        nonlocal taken
        taken += 1
        if taken == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(envs, actions)

    ReactorVectorEnv.step = counted
    sys.argv = [str(EXAMPLE), *arguments]
    pipe.send(example.main())
