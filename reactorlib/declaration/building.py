"""The constructors under way in this thread, with the mode and the source position of what they make."""

from __future__ import annotations

import threading
from typing import Any


class _Building(threading.local):
    """`stack` has the Instances under construction, outermost first.

    `mode` is that of the enclosing `with` block of a class body or constructor. `where` is the position that a front
    end gave. Both hold in the innermost constructor only.
    """

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.bank_index = 0
        self.mode: Any = None
        self.where: str | None = None


building = _Building()
