"""Inputs as Lingua Franca's bodies may treat them: overwritten, and asked when and for which tag a value came."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from reactorlib.worker import context
from reactorlib.worker.cells import Multiport, Reader

PORT_VIEW = "__port_view__"  # what a body calls `view_of`
_ASKED = r"(\[[^\]\n]*\])?\s*\.\s*(set\s*\(|value\s*([-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)|intended_tag|physical_time_of)"


def viewed(inputs: Iterable[str], texts: Iterable[str]) -> set[str]:
    """The inputs that one of these bodies treats as only a view can be.

    >>> sorted(viewed(["x", "y", "z"], ["x.set(1)", "y[0].value += 1", "z.value == 1", "self.z.set(1)"]))
    ['x', 'y']
    """
    code = "\n".join(texts)
    return {name for name in inputs if re.search(rf"(?<![\w.]){re.escape(name)}{_ASKED}", code)}


class PortView:
    """One channel of an input for the reactions of one reactor at one tag. What they set no other reactor sees."""

    def __init__(self, port: Reader) -> None:
        self.value = port.value
        self.is_present = port.is_present
        self.physical_time_of_arrival = int(context.physical_time())

    def set(self, value: Any) -> None:
        """Overwrite the value; later reactions of the reactor read this one."""
        self.value, self.is_present = value, True

    @property
    def intended_tag(self) -> Any:
        """The current tag: nothing arrives late where one program runs all federates."""
        from reactorlib.lf.names import Tag  # which gives bodies this module

        return Tag(int(context.logical_time()), context.current_tag().microstep)


def view_of(reactor: Any, name: str, port: Any) -> Any:
    """The view of an input, the same one for all reactions of a reactor at a tag."""
    views, now = reactor.__dict__.setdefault(PORT_VIEW, {}), context.current_tag()
    if name not in views or views[name][0] != now:
        views[name] = now, Multiport(map(PortView, port)) if isinstance(port, Multiport) else PortView(port)
    return views[name][1]
