"""What concerns the kernel alone, measured by the harness's engine: two trees compared, and claims with limits."""
