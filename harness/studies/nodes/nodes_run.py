"""`python -m harness nodes`: latency and sampling between two nodes of this machine, each engine in turn.

Needs root or user namespaces, mpi4py with a launcher, and Ray; says what is missing, with exit status 77, where it
cannot run. Writes nodes.json, every repetition's times and the bytes and packets that left both nodes, and its figures.
"""

import argparse
import json
import os
import random
import secrets
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from typing import Any

from harness.errors import UsageError
from harness.plan.selection import check_known
from harness.studies.nodes.echo import SIZES
from harness.studies.nodes.namespaces import ADDRESSES, NOT_PERMITTED, across, crossed, two_nodes, why_not

ROOT = Path(__file__).resolve().parents[3]
LATENCY = ("tcp", "mpi", "reactors", "gloo", "ray")
SAMPLING = ("serial", "reactor-mpi", "ray-pooled", "ray-paper")
# workload, environment, environments; rounds for reactors and the loop, and for Ray
POINTS = {
    "CartPole": ("gym_sampling", "CartPole-v1", 16, 1500, 200),
    "Pong": ("atari_sampling", "Pong", 8, 80, 40),
}
PORT, RAY_PORT = 5077, 6379
LONGEST_S = 150
Row = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add = parser.add_argument
    add("--reps", type=int, default=3, help="repetitions, each with all engines in random order")
    add("--engines", default=",".join(dict.fromkeys((*LATENCY, *SAMPLING))), help="default: all")
    add("--points", default="latency,CartPole,Pong", help="default: all")
    add("--rate", help="cap the link, such as 100mbit")
    add("--mpiexec", default=shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.defpath}"))
    add("--output", type=Path, default=Path("nodes"), metavar="DIR", help="default: nodes")
    add("--again", action="store_true", help="measure nothing: the figures and the table of --output")


def run(options: argparse.Namespace, words: Sequence[str]) -> int:
    """Measure, and print what each engine takes of another's time. `words`: of the command line."""
    engines, points = options.engines.split(","), options.points.split(",")
    check_known("nodes", engines, (*LATENCY, *SAMPLING))
    check_known("nodes", points, ("latency", *POINTS))
    recorded = options.output / "nodes.json"
    if options.again:
        return shown(_recorded(recorded), options.output)
    options.output.mkdir(parents=True, exist_ok=True)
    if "TWO_NODES" not in os.environ:
        reason = why_not() or ("" if options.mpiexec else "no mpiexec: pip install 'reactorlib[mpi]'")
        if reason:
            print(f"two nodes cannot be had here: {reason}", file=sys.stderr)
            return NOT_PERMITTED
        env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        env |= {"TWO_NODES_RATE": options.rate} if options.rate else {}
        env |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # for this cluster alone
        command = two_nodes([sys.executable, "-m", "harness", *words])
        return subprocess.run(command, env=env, check=False).returncode
    rows: list[Row] = []
    with ray_cluster() if any(engine.startswith("ray") for engine in engines) else nullcontext():
        for repetition in range(options.reps):
            for point in points:
                these = [e for e in (LATENCY if point == "latency" else SAMPLING) if e in engines]
                for engine in random.sample(these, len(these)):
                    rows.append({"repetition": repetition, "point": point, "engine": engine, **measured(point, engine, options.mpiexec)})  # noqa: E501  # fmt: skip
                    recorded.write_text(json.dumps(rows, indent=1))
    return shown(rows, options.output)


def _recorded(path: Path) -> list[Row]:
    try:
        rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; expected what `nodes` without --again has written") from error
    except ValueError as error:
        raise UsageError(f"{path}: not what `nodes` writes: {error}") from error
    return rows


def shown(rows: Sequence[Row], directory: Path) -> int:
    """Print the table, and draw what there are rows for."""
    from harness.report.figures import study_figures  # takes a second
    from plots import page, style

    print("\n".join(table(rows)))
    for name, make in (("latency", study_figures.latency), ("sampling", study_figures.node_sampling)):
        if (chart := make(rows)) is not None:
            print(style.save(page.render(chart), directory / f"{name}.svg"))
    return 0


def measured(point: str, engine: str, mpiexec: str) -> Row:
    """One run of one engine: its result, and what left the nodes meanwhile."""
    before = crossed()
    done = _latency(engine, mpiexec) if point == "latency" else _sampling(point, engine, mpiexec)
    after = crossed()
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        print(f"{point} {engine}: {done.stderr[-600:]}", file=sys.stderr)
    return {
        "result": json.loads(lines[-1]) if lines else None,
        "bytes": after[0] - before[0],
        "packets": after[1] - before[1],
        "load": os.getloadavg()[0],
    }


def _run(command: Sequence[str], env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    full = {**os.environ, **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, check=False, cwd=ROOT, env=full)


def _latency(engine: str, mpiexec: str) -> "subprocess.CompletedProcess[str]":
    mine = [sys.executable, "-m", "harness.studies.nodes.echo", engine]
    if engine in ("mpi", "reactors"):
        launcher, env = across(shlex.split(mpiexec))
        return _run([*launcher, "-n", "2", *mine], env)
    if engine == "ray":
        return _run([*mine, f"{ADDRESSES[0]}:{RAY_PORT}"])
    roles = ("listen", "connect") if engine == "tcp" else ("0", "1")
    ends = [[*mine, role, ADDRESSES[0], str(PORT)] for role in roles]
    far = f"cd {ROOT} && exec env PYTHONPATH={ROOT} OMP_NUM_THREADS=1 GLOO_SOCKET_IFNAME=eth0 {shlex.join(ends[1])}"
    peer = subprocess.Popen([os.environ["TWO_NODES_RSH"], "node1", far])
    try:
        return _run(ends[0], {"GLOO_SOCKET_IFNAME": "eth0"})
    finally:
        peer.kill()
        peer.wait()


def _sampling(point: str, engine: str, mpiexec: str) -> "subprocess.CompletedProcess[str]":
    workload, environment, actors, rounds, fewer = POINTS[point]
    words = ["harness.studies.nodes.node_sampling", engine, workload, environment, str(actors)]
    if engine == "reactor-mpi":
        launcher, env = across(shlex.split(mpiexec))
        return _run([*launcher, "-n", "2", sys.executable, "-m", "workloads.ranks", *words, str(rounds)], env)
    if engine == "serial":
        return _run([sys.executable, "-m", *words, str(rounds)])
    return _run([sys.executable, "-m", *words, str(fewer), f"{ADDRESSES[0]}:{RAY_PORT}"])


@contextmanager
def ray_cluster() -> Iterator[None]:
    """Ray's head on this node and a worker node on the other, one core each."""
    common = f"--num-cpus=1 --object-store-memory={300 << 20} --disable-usage-stats"
    env = "RAY_worker_niceness=0 RAY_task_events_report_interval_ms=0 RAY_enable_metrics_collection=false"
    head = f"--head --node-ip-address={ADDRESSES[0]} --port={RAY_PORT} --include-dashboard=false"
    far = f"--address={ADDRESSES[0]}:{RAY_PORT} --node-ip-address={ADDRESSES[1]}"
    for node, words, resource in ((0, head, "near"), (1, far, "far")):
        start = f"{sys.executable} -m ray.scripts.scripts start {words} {common}"
        command = f"cd {ROOT} && env {env} PYTHONPATH={ROOT} {start} "
        command += f"""--resources='{{"{resource}": 1}}'"""
        done = _run([os.environ["TWO_NODES_RSH"], f"node{node}", command])
        if done.returncode:
            print(done.stderr[-800:], file=sys.stderr)
    time.sleep(2)
    try:
        yield
    finally:
        subprocess.run(
            [sys.executable, "-m", "ray.scripts.scripts", "stop", "--force"], capture_output=True, check=False
        )


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Medians over repetitions, and ratios within them: of tcp for latency, of ray-pooled for sampling."""
    for point in dict.fromkeys(row["point"] for row in rows):
        of = [row for row in rows if row["point"] == point and row["result"]]
        if point == "latency":
            for size in map(str, SIZES):
                times = {(r["engine"], r["repetition"]): median(r["result"][size]) for r in of}
                yield f"{size} bytes, there and back: " + _ratios(times, "tcp")
        else:
            times = {(r["engine"], r["repetition"]): r["result"]["us"] for r in of}
            digests = {r["result"]["digest"] for r in of}
            same = "equal" if len(digests) == 1 else "DIFFER"
            yield f"{point}, a round: {_ratios(times, 'ray-pooled')}; digests {same}"
            traffic = {
                e: median(r["bytes"] for r in of if r["engine"] == e) for e in dict.fromkeys(r["engine"] for r in of)
            }
            yield f"  bytes on the link, start included: {', '.join(f'{e} {n:,.0f}' for e, n in traffic.items())}"


def _ratios(times: dict[tuple[str, int], float], base: str) -> str:
    parts = []
    for engine in dict.fromkeys(engine for engine, _ in times):
        own = [t for (e, _), t in times.items() if e == engine]
        ratios = [t / times[base, n] for (e, n), t in times.items() if e == engine and (base, n) in times]
        parts.append(f"{engine} {median(own):,.0f} us" + (f" (x{median(ratios):.2f} of {base})" if ratios else ""))
    return ", ".join(parts)
