"""The benchmark's workloads: what is computed, and the same on each framework. Never imports the harness."""
