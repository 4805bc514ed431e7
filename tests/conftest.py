"""What holds for all tests: a Hypothesis example may take as long as a busy machine makes it, and Ctrl-C interrupts,
also where the tests run in the background of a shell, which has it ignored.
"""

import signal

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
