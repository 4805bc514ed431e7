"""Actor systems behind one interface: `system` has it, `members` divides members among actors, the rest are systems."""
