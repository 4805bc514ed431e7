"""Pictures and predictions of programs and runs: diagram, timeline, scaling.

Never imported by anything that runs: free when unused. Read the one you need first.
"""
