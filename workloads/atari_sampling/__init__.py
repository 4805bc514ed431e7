"""Atari environments stepped at random: full RGB frames (210 x 160 x 3 uint8) in every reply."""
