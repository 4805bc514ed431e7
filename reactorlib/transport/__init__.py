"""How bytes cross between processes: the interface, shared memory with its channels, values to messages and back.

Never knows of reactors, cells or tags. Read transport.py first.
"""
