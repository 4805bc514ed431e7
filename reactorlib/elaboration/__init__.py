"""From a reactor class to one frozen record of the program: names, cells, order, every fault reported together.

Never runs a reaction. Read elaborate.py first.
"""
