"""A broadcast and the gathering of all replies."""
