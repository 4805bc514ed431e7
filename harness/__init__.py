"""The benchmark's harness: what runs, in which order, each trial in a fresh process, and what came out."""
