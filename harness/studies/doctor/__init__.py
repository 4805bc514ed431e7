"""The properties of this machine, the parts of the suite that work on it, and dangers to a measurement. Compares no
backends."""
