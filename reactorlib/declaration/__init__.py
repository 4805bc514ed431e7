"""What class bodies and constructors say: elements, reactors, banks, connections.

Checks no program as a whole and runs nothing. Read class_body first.
"""
