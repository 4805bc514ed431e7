"""One worker of a run, with its cells, current tag, calls and trace, and the coordinator with queue, modes and loop.

Never moves anything between workers. Read cells.py first, then worker.py.
"""
