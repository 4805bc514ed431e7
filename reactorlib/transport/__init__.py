"""How bytes cross between processes: shared memory with its channels, values to messages and back.

Never knows of reactors, cells or tags. Read codec.py first.
"""
