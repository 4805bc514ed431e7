"""The benchmark's workloads, each computing the same thing on every framework. Never imports the harness."""
