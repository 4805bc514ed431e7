"""`python -m harness`: see harness/cli.

PYTHON_ARGCOMPLETE_OK: a shell that argcomplete was activated in completes what is typed.
"""

import sys

from harness.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
