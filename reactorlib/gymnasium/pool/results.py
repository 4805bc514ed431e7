"""The results of the environments of a pool, from the end of a step until they are received."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector.utils import concatenate, create_empty_array

from reactorlib.gymnasium.vector import is_plain, merged, put_rows, rows_of


class Results:
    """The last result of each of `n` environments, a row in every array. The `ready` rows can be taken.

    The columns are observations, rewards, terminations, truncations, and an Info or None. Observations of a `space`
    that is not made of arrays are objects.
    """

    def __init__(self, space: Any, n: int) -> None:
        self.ready = np.zeros(n, np.bool_)
        self._space, self._is_plain = space, is_plain(space)
        observations: Any = create_empty_array(space, n) if self._is_plain else np.empty(n, object)
        self._columns = observations, np.zeros(n), np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.empty(n, object)

    def put(self, ids: Any, rows: Any) -> None:
        """Replace the rows of these environments, which are ready from now on."""
        put_rows(self._columns, ids, rows)
        self.ready[ids] = True

    def rows(self, ids: Any) -> Any:
        """The rows of these environments, for `put`."""
        return rows_of(self._columns, ids)

    def take(self, ids: Any) -> tuple[Any, ...]:
        """Observations, rewards, terminations, truncations and infos of these, which are not ready afterwards."""
        observations, *ends, said = self.rows(ids)
        self.ready[ids] = False
        if not self._is_plain:
            empty: Any = create_empty_array(self._space, len(ids))
            observations = concatenate(self._space, observations, empty)
        infos = merged([info for info in said if info is not None], len(self.ready))
        return observations, *ends, rows_of(infos, ids)
