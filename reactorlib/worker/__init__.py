"""What one worker of a run is: cells, event queue, modes, trace, the walk of what is not compiled.

Moves nothing between workers. Read binding first.
"""
