"""A victim, see there, from whose main process another one is forked before it is ready: that one lives on."""

import os
import sys
import time

from tests.reactorlib.executors import victim

say_ready = victim.say_ready


def fork_and_say_ready() -> None:
    if os.fork():
        say_ready()
    else:
        time.sleep(60)
        os._exit(0)


if __name__ == "__main__":
    victim.say_ready = fork_and_say_ready
    victim.main(*sys.argv[1:])
