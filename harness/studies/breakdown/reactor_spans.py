"""Spans of the reactor runtime: its reactions, and in worker processes also what its transport does.

The workloads' code runs as it is. A reaction of a reactor that reports rounds is the hub's, any other a worker's. In
worker processes encoding and decoding is `serialise`, sending `submit`, receiving `blocked`; in worker threads, which
share their values, taking a message is `blocked`. The rest of the hub's lane is the runtime's own work between
reactions and counts as `submit`.
"""

import contextlib
import inspect
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing import util
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.studies.breakdown.spans import BLOCKED, COMPUTE, HUB, SERIALISE, SUBMIT, Recorder, Span, replaced

# Worker processes are forked from this one, and with it what is recorded in them.
VARIABLES = {"REACTORLIB_START_METHOD": "fork"}


@contextlib.contextmanager
def recording(recorder: Recorder, program: ModuleType) -> Iterator[None]:
    """Record the reactions of all reactors that a module's package declares, and the transport of all processes."""
    from reactorlib.executors.mailbox import Mailbox
    from reactorlib.transport.channel import MessageChannel
    from reactorlib.transport.codec import Codec

    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        for reaction, kind in _reactions(program):
            stack.enter_context(replaced(reaction, "body", recorder.timed(kind, reaction.body)))
        for owner, name, replacement in (
            (Codec, "encoder", _encoders(recorder, Codec.encoder)),
            (Codec, "decode", recorder.timed(SERIALISE, Codec.decode)),
            (MessageChannel, "send", recorder.timed(SUBMIT, MessageChannel.send)),
            (MessageChannel, "receive", recorder.timed(BLOCKED, MessageChannel.receive)),
            (Mailbox, "get", recorder.timed(BLOCKED, Mailbox.get)),
        ):
            stack.enter_context(replaced(owner, name, replacement))
        courier = _Courier(recorder, Path(directory))
        yield
        recorder.include(courier.delivered())


def _reactions(program: ModuleType) -> Iterator[tuple[Any, str]]:
    """The reactions that the reactors of a module's package declare, and whose code they are."""
    from reactorlib import Reactor
    from reactorlib.declaration.class_body import Reaction

    for cls in _below(Reactor):
        if f"{cls.__module__}.".startswith(f"{program.__package__}."):
            kind = HUB if "probe" in inspect.signature(cls.__init__).parameters else COMPUTE
            yield from ((member, kind) for member in vars(cls).values() if isinstance(member, Reaction))


def _below(cls: type[Any]) -> Iterator[type[Any]]:
    """All subclasses of a class."""
    for sub in cls.__subclasses__():
        yield sub
        yield from _below(sub)


def _encoders(recorder: Recorder, function: Callable[..., Any]) -> Callable[..., Any]:
    def encoder(codec: Any, receivers: Any) -> Callable[..., Any]:
        return recorder.timed(SERIALISE, function(codec, receivers))

    return encoder


class _Courier:
    """Brings the spans of forked processes home: each writes its own into a file when it ends."""

    def __init__(self, recorder: Recorder, directory: Path) -> None:
        self._recorder = recorder
        self._directory = directory
        util.register_after_fork(self, _Courier._set_out)

    def _set_out(self) -> None:
        self._recorder.begin_anew(f"process {os.getpid()}")
        util.Finalize(None, self._deliver, exitpriority=0)

    def _deliver(self) -> None:
        (self._directory / f"{os.getpid()}.json").write_text(json.dumps(self._recorder.spans()))

    def delivered(self) -> list[Span]:
        """The records of all processes, once they have ended."""
        return [Span(*span) for file in self._directory.iterdir() for span in json.loads(file.read_text())]
