"""Timers that all fire once in a period."""
