"""The evaluation of policies: one row per episode, which depends on the episode alone. The main function is `evaluate`.

`rows` has the results, `slot` the environment in which episodes run, and `playing` the loop around the policy. `file`
reads and writes the rows.
"""

from reactorlib.gymnasium.evaluation.file import file_header, file_line, read_file, write_file
from reactorlib.gymnasium.evaluation.playing import Episode, evaluate
from reactorlib.gymnasium.evaluation.rows import EpisodeRow, Evaluation

__all__ = [
    "Episode",
    "EpisodeRow",
    "Evaluation",
    "evaluate",
    "file_header",
    "file_line",
    "read_file",
    "write_file",
]
