"""The plan of a run: presets, selection, and the grid of points and trials. Measures nothing."""
