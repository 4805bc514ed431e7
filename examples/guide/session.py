"""A program that its caller drives, a tag at a time."""

from reactorlib import Bank, Input, Output, Reactor, Session, connect, reaction


class Square(Reactor):
    """Squares what it is given."""

    inp, out = Input[int](), Output[int]()

    @reaction(inp, effects=out)
    def answer(self, inp, out):
        out.set(inp.value**2)


class Squares(Reactor):
    """Inputs and outputs of the main reactor are the caller's."""

    inp, out = Input[int](), Output[int](width=lambda n: n)

    def __init__(self, n: int):
        self.squares = Bank(Square, n)
        connect(self.inp, self.squares.inp)
        connect(self.squares.out, self.out)


if __name__ == "__main__":
    with Session(Squares, n=4, executor="processes", workers=2, trace=True) as session:
        step = session.stepper(inputs=("inp",), outputs=("out",))  # looked up once
        for k in range(1000):
            assert step(k) == [k * k] * 4  # one tag: the inputs, all that follows, the outputs
    print(session.close().digest)
