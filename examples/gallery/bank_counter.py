"""A discrete-event simulation: customers wait in one line for two clerks. A working day takes milliseconds.

python -m reactorlib run examples/gallery/bank_counter.py:Office --fast --timeout 8h
"""

import random
from collections import deque

from reactorlib import (
    HOUR,
    SEC,
    Bank,
    Input,
    LogicalAction,
    Output,
    Reactor,
    connect,
    current_tag,
    reaction,
    run,
    shutdown,
    startup,
)


class Street(Reactor):
    """Customers arrive at random: one in two minutes on average."""

    arrival = LogicalAction()
    customer = Output[int]()

    def __init__(self, seed=0):
        self.random = random.Random(seed)
        self.number = 0

    @reaction(startup, arrival, effects=(customer, arrival))
    def arrive(self, arrival, customer):
        if arrival.is_present:
            self.number += 1
            customer.set(self.number)
        arrival.schedule(round(self.random.expovariate(1 / 120)) * SEC)


class Clerk(Reactor):
    """Serves a customer for three minutes on average, and then asks for the next one."""

    customer = Input[int]()
    done = LogicalAction()
    free = Output[bool]()

    def __init__(self):
        self.random = random.Random(100 + self.bank_index)

    @reaction(customer, effects=done)
    def serve(self, customer, done):
        done.schedule(round(self.random.expovariate(1 / 180)) * SEC)

    @reaction(startup, done, effects=free)
    def ready(self, done, free):
        free.set(True)


class Line(Reactor):
    """First come, first served, by the first clerk who is free."""

    customer = Input[int]()
    free = Input[bool](width="clerks")
    call = Output[int](width="clerks")

    def __init__(self, clerks):
        self.waiting = deque()
        self.idle = []
        self.waited = []

    @reaction(customer, free, effects=call)
    def match(self, customer, free, call):
        now = current_tag().time
        if customer.is_present:
            self.waiting.append((customer.value, now))
        self.idle += [index for index, clerk in enumerate(free) if clerk.is_present]
        while self.waiting and self.idle:
            number, since = self.waiting.popleft()
            call[self.idle.pop(0)].set(number)
            self.waited.append((now - since) / SEC)

    @reaction(shutdown)
    def report(self):
        waited = self.waited or [0]
        mean = sum(waited) / len(waited)
        print(f"{len(self.waited)} customers served, mean wait {mean:.0f} s, longest {max(waited):.0f} s")


class Office(Reactor):
    """The street, the line and the clerks."""

    def __init__(self, clerks=2):
        self.street = Street()
        self.line = Line(clerks)
        self.clerks = Bank(Clerk, clerks)
        connect(self.street.customer, self.line.customer)
        connect(self.line.call, self.clerks.customer)
        connect(self.clerks.free, self.line.free, after=0)


if __name__ == "__main__":
    run(Office, fast=True, timeout=8 * HOUR)
