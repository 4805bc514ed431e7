"""One worker of a run: cells, current tag, requests, trace; worker 0 adds the queue, the modes and the tag loop.

Never moves anything between workers. Read worker.py first.
"""
