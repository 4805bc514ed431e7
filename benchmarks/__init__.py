"""Benchmarks of the kernel alone: no workload, no Ray. `kernel` is for pytest-benchmark, `kernel_claims` judges."""
