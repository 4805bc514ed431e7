"""From a program and a set of triggers to source: plan, moments, partition, sends and waits, straight-line Python.

Never holds a value of a run. Read plan.py first.
"""
