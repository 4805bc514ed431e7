"""`python -m benchmarks.kernel_claims`: measures, prints the table, exits with 1 where a claim fails."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.kernel_claims import processes
from benchmarks.kernel_claims.claim import Claim, lines
from benchmarks.kernel_claims.measure import measured
from benchmarks.kernel_claims.table import PARTS, TINY, Size

ONCE = {"start-up": processes.start_up, "memory": processes.memory, "no-trace": processes.no_trace}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the parts asked for; 1 if a claim fails."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernel_claims", description="Measure what the kernel claims."
    )
    known = [*PARTS, *ONCE]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of: {', '.join(known)} (default: all)")
    parser.add_argument("--tiny", action="store_true", help="seconds instead of minutes: does it work, not how fast")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too")
    chosen = parser.parse_args(arguments)
    unknown = [part for part in chosen.parts if part not in known]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}: one of {', '.join(known)}")
    size = TINY if chosen.tiny else Size()
    claims = list[Claim]()
    for name in chosen.parts or known:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        claims += measured(list(PARTS[name](size)), size) if name in PARTS else ONCE[name](size)
    print(", ".join(f"{name} {value}" for name, value in about().items()))
    print(lines(claims))
    if chosen.json is not None:
        about_run = {**about(), "size": "tiny" if chosen.tiny else "full"}
        text = json.dumps({**about_run, "claims": [claim.record for claim in claims]}, indent=2)
        chosen.json.write_text(text + "\n", encoding="utf-8")
    failed = [claim.name for claim in claims if claim.verdict == "FAIL"]
    print(f"{len(failed)} of {len(claims)} lines fail" + "".join(f"\n  {name}" for name in failed))
    return 1 if failed else 0


def about() -> dict[str, str]:
    """What the figures depend on besides the code."""
    try:
        xronos = version("xronos")
    except PackageNotFoundError:
        xronos = "not installed"
    return {
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "machine": platform.machine(),
        "cpus": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "xronos": xronos,
    }


if __name__ == "__main__":
    sys.exit(main())
