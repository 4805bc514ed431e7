"""Two trees of the code measured against each other, lap by lap on one machine: what `make regress` runs."""
