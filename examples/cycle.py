"""A program that cannot run: within one tag each of two reactors waits for the other. Its diagram marks the cycle.

    python -m reactorlib graph examples/cycle.py:Cycle -o cycle.svg

With `after=0` on either connection the value arrives one microstep later, and the program runs.
"""

from reactorlib import Input, Output, Reactor, connect, reaction, startup


class Player(Reactor):
    """Returns what it is given."""

    ball = Input[int]()
    back = Output[int]()

    @reaction(ball, effects=back)
    def play(self, ball, back):
        back.set(ball.value + 1)


class Judge(Reactor):
    """Throws in the ball, and counts."""

    count = Input[int]()
    ball = Output[int]()

    @reaction(count)
    def see(self, count):
        print(count.value)

    @reaction(startup, effects=ball)
    def throw_in(self, ball):
        ball.set(0)


class Cycle(Reactor):
    """The judge throws in only after seeing the count of the ball that it throws in."""

    def __init__(self):
        self.judge = Judge()
        self.player = Player()
        connect(self.judge.ball, self.player.ball)
        connect(self.player.back, self.judge.count)
