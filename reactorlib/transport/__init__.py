"""How values cross from one worker process to another: shared memory, and a way to wait. One machine only.

Nothing here knows reactors, ports or tags; nothing above it may assume that workers share memory.
"""
