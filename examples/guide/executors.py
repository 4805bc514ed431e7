"""One program on every executor, with one digest."""

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, run, startup


class Prime(Reactor):
    """Counts the primes of its part of the numbers."""

    limit = Input[int]()
    found = Output[int]()

    def __init__(self, parts: int) -> None:
        self.parts = parts

    @reaction(limit, effects=found)
    def search(self, limit: Input[int], found: Output[int]) -> None:
        own = range(2 + self.bank_index, limit.value, self.parts)
        found.set(sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in own))


class Hub(Reactor):
    """Asks all parts, and adds up."""

    limit = Output[int]()
    found = Input[int](width="parts")

    def __init__(self, parts: int) -> None:
        pass

    @reaction(startup, effects=limit)
    def ask(self, limit: Output[int]) -> None:
        limit.set(20_000)

    @reaction(found)
    def add(self, found: Input[int]) -> None:
        print(sum(part.value for part in found), "primes")


class Primes(Reactor):
    """A hub and its parts."""

    def __init__(self, parts: int = 4) -> None:
        self.hub, self.parts = Hub(parts), Bank(Prime, parts, parts)
        connect(self.hub.limit, self.parts.limit)
        connect(self.parts.found, self.hub.found)


if __name__ == "__main__":
    results = [run(Primes, executor=name, workers=2, trace=True) for name in ("inline", "threads", "processes")]
    print(len({result.digest for result in results}), "digest")
