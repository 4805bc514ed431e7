"""`python -m reactorlib`: see `reactorlib.cli`."""

import sys

from reactorlib.cli import main

if __name__ == "__main__":
    sys.exit(main())
