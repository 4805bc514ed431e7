"""Which constructors are running in this thread, and where a front end says that what they make lies. Makes nothing."""

from __future__ import annotations

import threading
from typing import Any


class _Building(threading.local):
    """`stack` has the Instances under construction, outermost first; `where` is of what is made at `depth` of it."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.bank_index = 0
        self.where: str | None = None
        self.depth = 0


building = _Building()
