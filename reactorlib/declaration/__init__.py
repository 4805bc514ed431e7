"""The content of class bodies and constructors: elements, reactions, reactors, banks, connections.

Never looks at a program as a whole, and runs nothing. Read elements.py first.
"""
