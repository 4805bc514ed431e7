"""The speed-up of a program on any number of workers, calculated from its static graph and one traced run."""
