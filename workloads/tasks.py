"""What the tasks of all workloads have in common."""

from workloads.parameter import validate


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
