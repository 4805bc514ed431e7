"""The scaling of a run's points with workers, predicted from the static graph and measured here."""
