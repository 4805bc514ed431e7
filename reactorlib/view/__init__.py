"""Pictures and predictions of programs and runs: diagram, timeline, scaling.

Free when unused: nothing that runs imports it. Read the one you need.
"""
