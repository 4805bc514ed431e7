"""Increments that a producer sends to a counter, whose sum it asks for."""
