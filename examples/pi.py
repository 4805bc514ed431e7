import random

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, run, startup


class Sampler(Reactor):
    darts = Input[int]()
    hits = Output[int]()

    def __init__(self):
        self.random = random.Random(self.bank_index)
        self.rounds = 0

    @reaction(darts, effects=hits)
    def throw(self, darts, hits):
        draw = self.random.random
        self.rounds += 1
        try:
            if self.rounds == 3 and self.bank_index == 2:
                raise ValueError("the dart is lost")
            hits.set(sum(draw() ** 2 + draw() ** 2 < 1 for _ in range(darts.value)))
        except ValueError:
            pass  # hits stays absent


class Hub(Reactor):
    hits = Input[int](width=4)
    darts = Output[int]()

    def __init__(self):
        self.thrown = 0
        self.hit = 0

    @reaction(startup, effects=darts)
    def begin(self, darts):
        darts.set(10_000)

    @reaction(hits, effects=darts)
    def gather(self, hits, darts):
        for hit in hits:
            if hit.is_present:
                self.thrown += 10_000
                self.hit += hit.value
        print(self.thrown, 4 * self.hit / self.thrown)
        if self.thrown < 200_000:
            darts.set(10_000)


class Main(Reactor):
    def __init__(self):
        self.hub = Hub()
        self.samplers = Bank(Sampler, 4)
        connect(self.hub.darts, self.samplers.darts, after=0)
        connect(self.samplers.hits, self.hub.hits)


if __name__ == "__main__":
    run(Main, executor="processes", workers=2)
