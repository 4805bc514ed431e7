"""The declarations and constructors under way in this thread, and the source position that a front end gives."""

from __future__ import annotations

import threading
from typing import Any


class _Building(threading.local):
    """`stack` has the Instances under construction, outermost first. `where` holds at `depth` of it.

    `mode` is the one whose `with` block is open, in a class body or in a constructor.
    """

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.bank_index = 0
        self.mode: Any = None
        self.where: str | None = None
        self.depth = 0


building = _Building()
