"""What the figures of a run may show. The harness reads and computes it."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from harness.stats.intervals import Estimate


@dataclass(frozen=True)
class Material:
    """Rows of a run, with the columns of its files, and estimates.

    `measurements`: of the backends that figures show. `vectors`: of all, for the figure that compares many.
    `breakdown` and `scaling` are empty where the run has no such file. `limit_shares`: by panel and backend, the speed
    in percent of the limit. `cores`: None where the machine is not known.
    """

    measurements: pd.DataFrame
    vectors: pd.DataFrame
    breakdown: pd.DataFrame
    scaling: pd.DataFrame
    limit_shares: Mapping[str, Mapping[str, Estimate]]
    cores: int | None
