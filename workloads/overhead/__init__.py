"""The classical actor micro-benchmarks: what one message costs when handling it costs nothing."""
