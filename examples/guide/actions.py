"""A thread hands lines to a program by a physical action; a logical action comes back to each of them later."""

import threading

from reactorlib import (
    MSEC,
    LogicalAction,
    PhysicalAction,
    Reactor,
    logical_elapsed,
    reaction,
    request_stop,
    run,
    startup,
)


class Echo(Reactor):
    """Says every line when it comes, and once more 100 ms of logical time later."""

    line = PhysicalAction[str]()
    again = LogicalAction[tuple[str, int]](min_delay=100 * MSEC)

    @reaction(startup, effects=line)
    def listen(self, line: PhysicalAction[str]) -> None:
        threading.Thread(target=self.read, args=(line,), daemon=True).start()

    def read(self, line: PhysicalAction[str]) -> None:
        """In a thread of its own, which may block: here on a socket or a device."""
        for text in ("hello", "world", "end"):
            line.schedule(value=text)

    @reaction(line, effects=again)
    def hear(self, line: PhysicalAction[str], again: LogicalAction[tuple[str, int]]) -> None:
        print("heard", line.value)
        again.schedule(value=(line.value, logical_elapsed()))

    @reaction(again)
    def repeat(self, again: LogicalAction[tuple[str, int]]) -> None:
        text, heard_at = again.value
        print(text, "once more,", (logical_elapsed() - heard_at) // MSEC, "ms later")
        if text == "end":
            request_stop()


if __name__ == "__main__":
    run(Echo)
