"""The common parts of command-line tools: the user's modules that they import, and standard output."""
