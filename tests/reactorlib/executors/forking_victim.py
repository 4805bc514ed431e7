"""A victim, see there, whose main process forks another one at its start: that one lives on."""

import os
import sys
import time

from reactorlib import reaction, startup
from tests.reactorlib.executors import victim


class Victim(victim.Victim):
    @reaction(startup)
    def fork(self) -> None:
        if not os.fork():
            time.sleep(60)
            os._exit(0)


if __name__ == "__main__":
    victim.Victim = Victim
    victim.main(*sys.argv[1:])
