"""What keeps two trees from being compared."""


class CannotCompareError(Exception):
    """No verdict is possible; the text is one line that says why."""
