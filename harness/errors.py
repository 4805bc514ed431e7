"""Errors that end a command of the harness without a traceback."""


class UsageError(Exception):
    """A mistake that the user can put right. The text is one line: the mistake, and the remedy."""


class Terminated(BaseException):
    """A signal asked the harness to end. Not an Exception: nothing but the command line may swallow it."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number
