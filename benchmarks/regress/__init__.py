"""Two trees of the code measured against each other, in turns on one machine: what `make regress` runs."""
