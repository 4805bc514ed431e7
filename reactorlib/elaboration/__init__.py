"""From a reactor class to one frozen Program: names, cells, connections, levels, every fault reported together.

Runs no reaction. Read elaborate first.
"""
