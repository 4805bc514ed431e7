"""Measurements of the kernel alone, by the harness's engine: two trees compared, and claims with limits."""
