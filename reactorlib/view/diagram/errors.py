"""What can go wrong when a diagram is written."""

from __future__ import annotations

from reactorlib.errors import ReactorError


class DiagramError(ReactorError):
    """A diagram cannot be written in the format that was asked for."""
