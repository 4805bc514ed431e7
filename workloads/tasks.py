"""The common parts of the tasks of several workloads."""

from typing import Any

from workloads.parameter import parameter, validate

ARRAYS = "arrays"
TENSORS = "tensors"  # the paper's


class CommonTask:
    """The parameters of a workload. A subclass is a frozen dataclass that declares these, or overrides `members`."""

    rounds: int
    warmup_rounds: int
    actors: int

    def __post_init__(self) -> None:
        """Check the parameters; raises ParameterError."""
        validate(self)

    @property
    def members(self) -> int:
        """Workers that can be placed apart."""
        return self.actors

    @property
    def total_rounds(self) -> int:
        """Rounds to run: warm-up and measured."""
        return self.warmup_rounds + self.rounds


def representation(what: str) -> Any:
    """The parameter of a task whose messages come in both; every backend sends what it says."""
    return parameter(ARRAYS, f"{what}: in contiguous arrays, or in small tensors as the paper has them",
                     choices=(ARRAYS, TENSORS))  # fmt: skip
