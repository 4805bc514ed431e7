"""One place in a program whose values are encoded: remembers the structures that they have had."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from reactorlib.transport.codec_compiler import Encode
from reactorlib.transport.pickling import UnpicklableError
from reactorlib.transport.structure import Describer, Structure

TRIED = 4  # encoders tried before a value is described
SHAPES = 8  # structures after which arrays of all shapes count as one
PATIENCE = 200  # values of unknown structure after which all others are pickled
HOPELESS = 10  # so much of it is lost at a value that can only be pickled

Pickle = Callable[[Any, tuple[int, ...]], bytes]


class Site:
    """Encodes with the encoder of the latest structure, then with those of earlier ones, else by pickle."""

    def __init__(
        self, receivers: tuple[int, ...], compiled: Callable[[Structure], Encode | None], pickle: Pickle
    ) -> None:
        self._receivers = receivers
        self._compiled = compiled
        self._pickle = pickle
        self._others: list[Encode] = []
        self._known = 0
        self._misses = 0

    def encoder(self) -> Callable[[Any], bytes]:
        """The function to call for each value."""
        receivers, pickle, other = self._receivers, self._pickle, self._other
        latest: Encode = _refuse

        def encode(value: Any) -> bytes:
            nonlocal latest
            try:
                message = latest(value, receivers)
                if message is None:
                    message, latest = other(value, latest)
            except (struct.error, UnpicklableError):  # an int of more than 64 bits; or to name the part of the whole
                return pickle(value, receivers)
            return message

        return encode

    def _other(self, value: Any, latest: Encode) -> tuple[bytes, Encode]:
        """The message of a value that `latest` refuses, and the encoder to begin with next time."""
        for number, encode in enumerate(self._others):
            message = encode(value, self._receivers)
            if message is not None:
                self._others[number] = latest
                return message, encode
        found = self._learn(value)
        message = found and found(value, self._receivers)
        if found is None or message is None:
            return self._pickle(value, self._receivers), latest
        if latest is not _refuse:
            self._others = [latest, *self._others[: TRIED - 2]]
        return message, found

    def _learn(self, value: Any) -> Encode | None:
        if self._misses >= PATIENCE:
            return None
        self._misses += 1
        structure = Describer(loose=self._known > SHAPES).describe(value)
        if structure == "o":
            self._misses += HOPELESS
            return None
        encode = self._compiled(structure)
        if encode is not None:
            self._known += 1
        return encode


def _refuse(_value: Any, _receivers: Any) -> bytes | None:
    return None
