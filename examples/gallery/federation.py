"""Federated averaging: two sites fit a line to data that never leaves them. Only the two numbers of the line travel.

On two machines, one rank on each (both need this file at the same place):

    mpiexec -n 2 -hosts a,b python -m reactorlib run examples/gallery/federation.py:Federation --executor mpi
"""

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, run, startup

Line = tuple[float, float]  # slope and intercept


class Site(Reactor):
    """Takes some steps of gradient descent on its own data, from the line that it receives."""

    average = Input[Line]()
    fitted = Output[Line]()

    def __init__(self):
        self.data = [(x / 10, 2 * x / 10 + 1) for x in range(10 * self.bank_index, 10 * self.bank_index + 10)]

    @reaction(average, effects=fitted)
    def fit(self, average, fitted):
        slope, intercept = average.value
        for _ in range(20):
            errors = [(slope * x + intercept - y, x) for x, y in self.data]
            slope -= 0.1 * sum(error * x for error, x in errors) / len(errors)
            intercept -= 0.1 * sum(error for error, _ in errors) / len(errors)
        fitted.set((slope, intercept))


class Server(Reactor):
    """Averages the lines of all sites, for some rounds."""

    fitted = Input[Line](width="sites")
    average = Output[Line]()

    def __init__(self, sites, rounds):
        self.left = rounds

    @reaction(startup, effects=average)
    def begin(self, average):
        average.set((0.0, 0.0))

    @reaction(fitted, effects=average)
    def merge(self, fitted, average):
        slope, intercept = (sum(values) / len(fitted) for values in zip(*(line.value for line in fitted), strict=True))
        print(f"y = {slope:.3f} x + {intercept:.3f}")
        self.left -= 1
        if self.left:
            average.set((slope, intercept))


class Federation(Reactor):
    """A server and its sites; the average reaches them one microstep later."""

    def __init__(self, sites=2, rounds=4):
        self.server = Server(sites, rounds)
        self.sites = Bank(Site, sites)
        connect(self.server.average, self.sites.average, after=0)
        connect(self.sites.fitted, self.server.fitted)


if __name__ == "__main__":
    run(Federation)
