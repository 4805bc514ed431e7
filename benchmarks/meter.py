"""How much a program repeats itself: asked by the program at each end of a lap. Measures nothing."""


class Meter:
    """Given to a program that repeats itself: it asks `next_lap` at each end of a lap, and stops at 0.

    The first lap is the warm-up. The engine's own stands in its place where laps have no end.
    """

    def __init__(self, warmup: int, tags: int, laps: int = 1) -> None:
        self.warmup = warmup
        self.tags = tags
        self._left = laps

    def next_lap(self) -> int:
        """End a lap. How many tags the next one has; 0 after the last."""
        self._left -= 1
        return self.tags if self._left >= 0 else 0
