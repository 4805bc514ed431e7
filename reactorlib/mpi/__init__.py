"""`mpiexec -n 4 python -m reactorlib.mpi train.py`: a script on the first rank, whose sessions the other ranks serve.

Owns the command alone: what a rank does for a session is in `executors.mpi`.
"""
