"""The ways to run a program, behind one interface: on one thread, on many, in many processes, on many machines.

Never decides what a tag does: that is in the schedules. Read executor.py first.
"""
