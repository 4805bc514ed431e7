"""A program that ends by itself, says so on its way out, and tells its caller when that was."""

from reactorlib import MSEC, Reactor, Timer, current_tag, reaction, request_stop, run, shutdown


class Countdown(Reactor):
    """Stops when nothing is left."""

    tick = Timer(period=1 * MSEC)

    def __init__(self, left: int = 3):
        self.left = left

    @reaction(tick)
    def count(self, tick: Timer) -> None:
        print(current_tag(), self.left)
        if self.left == 0:
            request_stop()
        self.left -= 1

    @reaction(shutdown)
    def end(self) -> None:
        print(current_tag(), "the end")


if __name__ == "__main__":
    print(run(Countdown, fast=True).tag)
    print(run(Countdown, fast=True, timeout=1 * MSEC).tag)
