"""A parallel pipeline: pages are cut into words and counted on all cores, with one result on any number of them.

python -m reactorlib run examples/gallery/word_count.py:Pipeline --executor processes
"""

from collections import Counter

from reactorlib import Bank, Input, LogicalAction, Output, Reactor, connect, reaction, run, startup

TEXT = "a reactor sends a value and a reactor reads a value so the result is one result and the order is one order"


class Reader(Reactor):
    """Hands out one page to each counter, until all are read."""

    page = Output[str](width="counters")
    turn = LogicalAction()

    def __init__(self, counters, pages):
        words = TEXT.split()
        self.pages = [" ".join(words[number % len(words) :]) for number in range(pages)]

    @reaction(startup, turn, effects=(page, turn))
    def read(self, turn, page):
        for port in page:
            if self.pages:
                port.set(self.pages.pop(0))
        if self.pages:
            turn.schedule()


class Count(Reactor):
    """Counts the words of a page."""

    page = Input[str]()
    counts = Output[dict[str, int]]()

    @reaction(page, effects=counts)
    def count(self, page, counts):
        counts.set(dict(Counter(page.value.split())))


class Total(Reactor):
    """Adds up the counts, in the order of the counters."""

    counts = Input[dict[str, int]](width="counters")

    def __init__(self, counters):
        self.total = Counter()
        self.pages = 0

    @reaction(counts)
    def add(self, counts):
        for count in counts:
            if count.is_present:
                self.total.update(count.value)
                self.pages += 1
        print(self.pages, "pages:", self.total.most_common(3))


class Pipeline(Reactor):
    """A reader, a bank of counters, and the total."""

    def __init__(self, counters=4, pages=12):
        self.reader = Reader(counters, pages)
        self.counters = Bank(Count, counters)
        self.total = Total(counters)
        connect(self.reader.page, self.counters.page)
        connect(self.counters.counts, self.total.counts)


if __name__ == "__main__":
    run(Pipeline, executor="processes")
