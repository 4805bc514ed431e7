"""What can go wrong when drawing."""


class FigureError(Exception):
    """These rows can't be drawn. The text is one line: what is wrong, and what would be right."""
