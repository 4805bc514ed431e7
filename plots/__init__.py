"""Figures drawn from charts, which hold estimates with intervals. Owns their look; reads no file, computes nothing."""
