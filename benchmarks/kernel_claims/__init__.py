"""The kernel's claims, measured: `python -m benchmarks.kernel_claims` prints each with its limit and a verdict."""
