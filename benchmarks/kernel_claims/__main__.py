"""`python -m benchmarks.kernel_claims`: measures, prints the table, exits with 1 where a claim fails."""

import argparse
import os
import platform
import sys
from collections.abc import Sequence

from benchmarks.kernel_claims import messages, processes
from benchmarks.kernel_claims.claim import Claim, lines, measured
from benchmarks.kernel_claims.table import PARTS, TINY, Size
from reactorlib.tool import standard_output

ONCE = {"messages": messages.messages, "start-up": processes.start_up, "memory": processes.memory}


@standard_output.ended
def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the parts asked for; 1 if a claim fails."""
    about = "Measure what the kernel claims."
    parser = argparse.ArgumentParser("python -m benchmarks.kernel_claims", description=about)
    known = [*PARTS, *ONCE]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of: {', '.join(known)} (default: all)")
    parser.add_argument("--tiny", action="store_true", help="seconds instead of minutes: does it work, not how fast")
    chosen = parser.parse_args(arguments)
    if unknown := [part for part in chosen.parts if part not in known]:
        parser.error(f"no part {', '.join(unknown)}: one of {', '.join(known)}")
    size = TINY if chosen.tiny else Size()
    claims = list[Claim]()
    for name in chosen.parts or known:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        claims += measured(list(PARTS[name](size)), size) if name in PARTS else ONCE[name](size)
    python = f"Python {platform.python_version()} ({platform.python_implementation()})"
    print(f"{python}, {platform.machine()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    print(lines(claims))
    failed = [claim.name for claim in claims if claim.verdict == "FAIL"]
    print(f"{len(failed)} of {len(claims)} lines fail" + "".join(f"\n  {name}" for name in failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
