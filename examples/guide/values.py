"""A large array for all, and one result that all of them write: neither is copied from process to process."""

import numpy as np

from reactorlib import Bank, Batch, Input, Output, Reactor, connect, reaction, run, startup


class Hub(Reactor):
    """Sends a matrix and a place for the answer; adds up when all have answered."""

    matrix = Output[np.ndarray]()
    rows = Output[Batch]()
    done = Input[int](width="size")

    def __init__(self, size: int) -> None:
        self.size = size

    @reaction(startup, effects=(matrix, rows))
    def begin(self, matrix: Output[np.ndarray], rows: Output[Batch]) -> None:
        content = matrix.allocate((1000, 1000))  # where the readers see it, on processes in shared memory
        content[:] = np.arange(1000)
        matrix.set(content)
        self.batch = rows.batch((self.size, 1000))
        rows.set(self.batch)

    @reaction(done)
    def end(self, done: Input[int]) -> None:
        print([int(row.sum()) for row in self.batch.array])


class Worker(Reactor):
    """Writes its row of the answer where it lies."""

    matrix, rows = Input[np.ndarray](), Input[Batch]()
    done = Output[int]()

    @reaction(matrix, rows, effects=done)
    def compute(self, matrix: Input[np.ndarray], rows: Input[Batch], done: Output[int]) -> None:
        rows.value.array[self.bank_index] = matrix.value[self.bank_index] * self.bank_index
        done.set(self.bank_index)


class Main(Reactor):
    """A hub and its workers."""

    def __init__(self, size: int = 3) -> None:
        self.hub, self.workers = Hub(size), Bank(Worker, size)
        connect(self.hub.matrix, self.workers.matrix)
        connect(self.hub.rows, self.workers.rows)
        connect(self.workers.done, self.hub.done)


if __name__ == "__main__":
    run(Main, executor="processes", workers=2)
