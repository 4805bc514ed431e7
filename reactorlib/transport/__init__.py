"""How bytes cross between processes: shared memory and channels in it, MPI, values to messages and back.

Never knows of reactors, cells or tags. Read transport.py first.
"""
