"""No text is a trouble to the parser: it gives a tree or faults with places, at once."""

import random
import re
import time

import pytest

from reactorlib import ElaborationError
from reactorlib.lf.parser import parse

VALID = """
target Python { timeout: 5 sec, fast: true, files: ["a.py"], nested: { key: 3 ms, }, }
/* comment */
import A, B as C from "lib/x.lf"
import D from <pkg/D.lf>
preamble {= import math =}
@label("x")
reactor Source<T>(width: int = 2, list(1, 2), code = {= [1, 2] =}, t: time = 3 ms) extends A, C {
  private preamble {=
    def f(self): return {"a": 1}
  =}
  reset state s: list<int> = [1, (2, 3), {4}]
  state u
  mutable input[width + widthof(x) + 1] x: int[]
  output y: {= dict =}
  timer t1(0, 1 sec)
  logical action a(1 ms, 2 ms, "drop"): int
  physical action b
  const method m(p, q: int): int {= return p =}
  reaction begin(startup, x) x -> y, a, reset(Two), history(One) {=
    print("a", 'b', "=")  # comment
  =} deadline(10 ms) {= pass =} STP(1 ms) {= pass =}
  initial mode One { timer t2(1 us) reaction(t2) -> Two {= Two.set() =} }
  mode Two { c = new Source<int>(width = 3) at localhost c.y -> y }
}
federated reactor Main(n = 4) at user@host:15045 {
  a = new[n] Source(width = n, s = {= bank_index =})
  b = new[{= 2 =}] Source(list = [1, 2])
  (a.y, b.y)+ -> interleaved(a.x), b.x after 10 ms serializer "x";
  a.y ~> b.x
  reaction(a.y, shutdown) named last
}
"""
PIECES = re.findall(r"\s+|\w+|\{=|=\}|.", VALID)
ODD = ["{=", "=}", "/*", "*/", "//", "->", "state", "reaction", "mode", "1e999", "0x"]
ODD += [*"{}()[]<>\"'@=,.:;-#\0\\é\t\ufeff", "\r\n", "9" * 40, '"' * 3]


def edited(source):
    """The file with some pieces taken away, doubled, swapped, replaced, or cut off."""
    pieces = list(PIECES)
    for _ in range(source.choice((1, 1, 2, 3, 8, 40))):
        at = source.randrange(len(pieces))
        kind = source.randrange(6)
        if kind == 0:
            del pieces[at]
        elif kind == 1:
            pieces.insert(at, pieces[source.randrange(len(pieces))])
        elif kind == 2:
            other = source.randrange(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]
        elif kind == 3:
            pieces[at] = source.choice(ODD)
        elif kind == 4:
            pieces.insert(at, source.choice(ODD))
        else:
            del pieces[at : at + source.randrange(30)]
    text = "".join(pieces)
    return text[: source.randrange(len(text))] if source.random() < 0.1 else text


def faults_of(text):
    try:
        parse(text, "Main.lf")
    except ElaborationError as error:
        return error.faults
    return ()


def accepted(seed):
    """Whether an edited file is one; a fault that has no place, or a parser that hangs, is a failure."""
    text = edited(random.Random(seed))
    began = time.perf_counter()
    faults = faults_of(text)
    assert time.perf_counter() - began < 10, seed
    assert all(re.match(r"Main\.lf:\d+:\d+: ", fault) for fault in faults), seed
    return not faults


def test_the_file_itself_is_valid():
    assert len(parse(VALID, "Main.lf").reactors) == 2


def test_edited_files():
    assert 0 < sum(accepted(seed) for seed in range(400)) < 400  # both ways are met


@pytest.mark.soak
def test_many_edited_files():
    assert 0 < sum(accepted(seed) for seed in range(10_000)) < 10_000


@pytest.mark.parametrize("text", ["{=" * 10_000, "(" * 9_999, "[" * 5_000, "/*" * 10_000, '"' * 9_999, "@" * 10_000])
def test_long_runs_of_what_opens_something(text):
    for before in (
        "",
        *(f"target Python {way}" for way in ("main reactor { state x = ", "main reactor (p = ", "{a: ")),
    ):
        with pytest.raises(ElaborationError):
            parse(before + text, "Main.lf")
