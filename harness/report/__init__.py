"""The report of a run: its summary and verdict, as text, as a page, and for other programs."""
