"""The commands of `python -m harness` and their options."""
