"""The scaling of a run's points with workers: the prediction of the static graph, and the measurement here."""
