"""Measure two trees of the code against each other, in turns on one machine. `make regress` runs this."""
