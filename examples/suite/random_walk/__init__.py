"""A workload from outside: its folder holds all that the suite needs."""
