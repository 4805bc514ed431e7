"""A hub and a bank: broadcast one microstep later, gather in the same tag. The shape of every workload here."""

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, request_stop, run, startup


class Worker(Reactor):
    """Raises a number to the power of its place in the bank."""

    number = Input[int]()
    power = Output[int]()

    @reaction(number, effects=power)
    def compute(self, number, power):
        power.set(number.value**self.bank_index)


class Hub(Reactor):
    """Sends a number to all workers, prints what comes back, and goes on to the next."""

    powers = Input[int](width="workers")
    number = Output[int]()

    def __init__(self, workers, rounds):
        self.round = 1
        self.rounds = rounds

    @reaction(startup, effects=number)
    def begin(self, number):
        number.set(self.round)

    @reaction(powers, effects=number)
    def gather(self, powers, number):
        print(self.round, [power.value for power in powers])
        self.round += 1
        if self.round > self.rounds:
            request_stop()
        else:
            number.set(self.round)


class Powers(Reactor):
    """A hub and its workers."""

    def __init__(self, workers=4, rounds=3):
        self.hub = Hub(workers, rounds)
        self.workers = Bank(Worker, workers)
        connect(self.hub.number, self.workers.number, after=0)  # broadcast, one microstep later
        connect(self.workers.power, self.hub.powers)  # gather, in the same tag


if __name__ == "__main__":
    run(Powers)
