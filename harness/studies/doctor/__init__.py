"""What this machine is, what of the suite works on it, and what would harm a measurement. Compares no backends."""
