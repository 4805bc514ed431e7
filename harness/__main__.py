"""`python -m harness`: see harness/cli.

PYTHON_ARGCOMPLETE_OK: a shell that argcomplete was activated in completes what is typed.
"""

import os
import signal
from typing import NoReturn


def _end_at_once(number: int, _: object) -> NoReturn:
    os.write(2, b"harness: interrupted\n")
    os._exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, _end_at_once)  # while half a second of imports is under way

    from harness.cli.commands import main
    from reactorlib.tool.standard_output import leave

    signal.signal(signal.SIGINT, signal.default_int_handler)
    leave(main())
