"""The evaluation of policies: one row per episode, which depends on the episode alone. The main function is `evaluate`.

`rows` has the results, `slot` the environment in which episodes run, and `evaluate` the loop around the policy.
"""

from reactorlib.gymnasium.evaluation.evaluate import Episode, evaluate
from reactorlib.gymnasium.evaluation.rows import Difference, EpisodeRow, Evaluation

__all__ = ["Difference", "Episode", "EpisodeRow", "Evaluation", "evaluate"]
