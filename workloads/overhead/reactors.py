"""The reactor that most shapes are made of."""

from reactorlib import Input, Output, Reactor, reaction


class Member(Reactor):
    """Adds its own step to the value it receives."""

    taken = Input[int]()
    passed = Output[int]()

    def __init__(self, first_index: int = 0) -> None:
        self.step = first_index + self.bank_index + 1

    @reaction(taken, effects=passed)
    def take(self, taken: Input[int], passed: Output[int]) -> None:
        """Pass the value on."""
        passed.set(taken.value + self.step)
