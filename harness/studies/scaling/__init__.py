"""How a run's points scale with workers: what the static graph predicts, and what is measured here."""
