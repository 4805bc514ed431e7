"""A value's way along a chain, without an event between."""
