"""Programs that never end and never wait, that end with an order unread, or that leave orphans."""

import os
import select
import subprocess


def spin(meter):
    meter._turns._channel.tell({})
    while True:
        pass


def leave(meter):
    channel = meter._turns._channel
    channel.tell({})
    select.select([channel._descriptor], [], [], 60)
    os._exit(3)


def orphans(count):
    """So many processes end one after the other whose parents have ended before."""
    for _ in range(count):
        inherited, kept = os.pipe()
        subprocess.run(["sh", "-c", "(:) &"], check=True, pass_fds=(kept,))
        os.close(kept)
        os.read(inherited, 1)  # the end of the file: nobody has the other end any more
        os.close(inherited)
    return count
