"""How bytes cross between processes: shared memory, channels in it, values to messages and back.

Never knows of reactors, cells or tags. Read transport.py first.
"""
