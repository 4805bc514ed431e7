"""Figures drawn from measurement rows. Owns their look; imports nothing of the suite that made the rows."""
