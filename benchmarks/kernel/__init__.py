"""The kernel by itself, under pytest-benchmark: `make bench-kernel`."""
