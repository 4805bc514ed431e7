"""What tools for programs of the user have in common: the modules that they import, and standard output."""
