"""From a Program and a set of triggers to source: plan, partition, sends and waits, straight-line Python.

Holds no value of a run. Read plan first.
"""
