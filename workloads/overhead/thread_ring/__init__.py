"""A token's way round a ring, each hop an event of its own."""
