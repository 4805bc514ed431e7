"""Hundreds of sessions at a time, and pools of many workers, on machines with little and with much memory.

The amount of memory is made up. All else is real: some 500 processes and 2,000 open files.
"""

import resource
import textwrap

import pytest

from tests.reactorlib.scripts import printed

GIB = (1, 64, 512, 4096)
SESSIONS, POOLS = 200, (96, 256)
LIMIT_S = 900

MACHINE = """
from reactorlib.transport import exchange
exchange.default_capacity = lambda: ({gib} << 30) * 7 // 10
"""

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 4096, reason="needs 4,096 open files"),
]


def on_a_machine(gib: int, script: str) -> str:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return printed(
        "-c",
        MACHINE.format(gib=gib) + textwrap.dedent(script),
        timeout=LIMIT_S,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
    )


@pytest.mark.parametrize("gib", GIB)
def test_hundreds_of_sessions_step_large_arrays_at_a_time(gib: int) -> None:
    script = f"""
    import numpy as np
    from tests.reactorlib.executors import driven
    kept = []
    for number in range({SESSIONS}):
        kept.append(driven.opened(workers=2))
        answer = kept[-1].step(inp=[np.full(300_000, number)])["out"]
        assert [one[0][-1] for one in answer] == [number] * 3
    for session in kept:
        session.kill()
    print(len(kept))
    """
    assert on_a_machine(gib, script) == f"{SESSIONS}\n"


@pytest.mark.parametrize("workers", POOLS)
@pytest.mark.parametrize("gib", GIB)
def test_a_pool_of_many_workers_opens_and_steps(gib: int, workers: int) -> None:
    script = f"""
    import functools, gymnasium
    from reactorlib.gymnasium import ReactorPool
    pool = ReactorPool([functools.partial(gymnasium.make, "CartPole-v1")] * {workers}, workers={workers})
    observations, infos = pool.reset(seed=1)
    print(len(observations))
    pool.close(terminate=True)
    """
    assert on_a_machine(gib, script) == f"{workers}\n"
