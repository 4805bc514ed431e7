"""The measuring half: blocks of subjects that take turns, in processes of their own."""
