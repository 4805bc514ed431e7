"""Everything that is measured, in turns of milliseconds: subjects, turns, blocks. Judges nothing, writes no file."""
