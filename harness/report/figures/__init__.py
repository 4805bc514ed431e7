"""The figures of a run as charts: which points each shows, and what they find."""
