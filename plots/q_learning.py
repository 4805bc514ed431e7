"""Training time of Q-learning on Blackjack, by size of the minibatch."""

import pandas as pd
from matplotlib.figure import Figure

from harness import quantity
from plots import lines, notes, published, rows
from plots.errors import FigureError

_ROUNDS = 1_000  # the paper's training run


def by_minibatch(measurements: pd.DataFrame) -> Figure:
    """Seconds for 1,000 rounds by minibatch, from the throughput. Raises FigureError."""
    selection = rows.select(measurements, "q_learning", "throughput", ["minibatch"])
    try:
        steps = _ROUNDS * selection.setting["actors"] * selection.setting["steps"]
    except KeyError as missing:
        raise FigureError(
            f"the rows of q_learning don't say their {missing.args[0]}; expected it in parameters"
        ) from None
    reference = [(series, series.numeric()) for series in published.series("q_learning")]
    panel = lines.Panel(selection.curves("minibatch", lambda rate: rate.inverse().scaled(steps)), reference)
    return lines.single(
        f"Q-learning: time to train for {_ROUNDS:,} rounds",
        notes.fixed(selection),
        [
            "Computed from the throughput, whatever number of rounds was measured.",
            *notes.below(selection, published="16 actors, 100 steps each" if reference else None),
        ],
        panel,
        "minibatch (transitions)",
        quantity.count,
        f"time for {_ROUNDS:,} rounds (s)",
    )
