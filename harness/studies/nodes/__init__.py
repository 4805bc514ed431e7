"""Two machines on one: what crosses between them, how fast, and on which engine.

Never claims the speed of real networks: all engines share one virtual link, and what counts is their ratio.
"""
