"""The directory of a run: its files, their schema, and the machine it was made on."""
