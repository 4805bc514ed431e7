"""`python -m harness`: see harness/cli.

PYTHON_ARGCOMPLETE_OK: a shell that argcomplete was activated in completes what is typed.
"""

from harness.cli.commands import main
from reactorlib.tool.standard_output import leave

if __name__ == "__main__":
    leave(main())
