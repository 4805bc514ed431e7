"""A backend against itself: what the statistics call a difference where there is none."""
