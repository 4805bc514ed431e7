"""Ranks of MPI: transport, executor, what ranks agree on, and the command that serves sessions.

Nothing here runs before `executor="mpi"` asks for it. Read runs.py first.
"""
