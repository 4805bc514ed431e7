"""`python -m reactorlib`: see `reactorlib.cli`."""

import sys

from reactorlib.cli import main
from reactorlib.tool.standard_output import leave

if __name__ == "__main__":
    status = main()
    if sys.argv[1:2] in (["run"], ["trace"]):  # a program's threads may outlive its run
        sys.exit(status)
    leave(status)
