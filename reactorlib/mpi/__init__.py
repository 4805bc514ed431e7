"""Ranks of MPI: transport, executor, what ranks agree on, and the command that serves sessions.

    mpiexec -n 4 python -m reactorlib.mpi train.py

Nothing here runs before `executor="mpi"` asks for it. Read runs.py first.
"""
