"""A description of this machine: its parts, what works on it, and circumstances that would harm a measurement."""
