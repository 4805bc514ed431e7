"""Properties that rows of several files share: the point and the trial they are of, and their status."""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated

import msgspec

from harness.plan.grid import Scalar, TrialKey
from harness.plan.point_name import point_name
from harness.store.status import OK, UNSUPPORTED

Text = Annotated[str, msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Finite = Annotated[float, msgspec.Meta(gt=-1e300, lt=1e300)]
Amount = Annotated[float, msgspec.Meta(ge=0, lt=1e300)]
PositiveFinite = Annotated[float, msgspec.Meta(gt=0, lt=1e300)]


def one_of(names: Iterable[str]) -> msgspec.Meta:
    """The bound of a text that is one of these names."""
    return msgspec.Meta(pattern=f"^({'|'.join(names)})$")


@lru_cache(maxsize=4096)
def _check_parameters(text: str) -> None:
    """Raise ValueError where a text isn't the JSON of named values."""
    try:
        msgspec.json.decode(text, type=dict[str, Scalar])
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise ValueError(f"parameters: expected named values as JSON, got {text[:40]!r}") from None


class OfPoint:
    """A row of a point. `point` is the name that follows from its workload and parameters."""

    workload: str
    parameters: str

    def __post_init__(self) -> None:
        _check_parameters(self.parameters)

    @property
    def point(self) -> str:
        return point_name(self.workload, self.parameters)

    @property
    def values(self) -> dict[str, Scalar]:
        found: dict[str, Scalar] = json.loads(self.parameters)
        return found


class OfTrial(OfPoint):
    """A row of a trial."""

    backend: str
    trial: int

    @property
    def trial_key(self) -> TrialKey:
        return TrialKey(self.point, self.backend, self.trial)


class HasStatus:
    """A row that may lack a value, and says why."""

    status: str

    @property
    def ok(self) -> bool:
        """Whether the row holds a value."""
        return self.status == OK

    @property
    def unsupported(self) -> bool:
        """Whether the backend cannot run at this point, which is no failure."""
        return self.status.startswith(UNSUPPORTED)

    @property
    def is_failure(self) -> bool:
        return not (self.ok or self.unsupported)
