"""A reactor class may have abstract methods, and abstract classes among its bases."""

from abc import ABC, abstractmethod
from typing import Any

import pytest

from reactorlib import ElaborationError, Output, Reactor, elaborate, reaction, startup
from tests.reactorlib.observing import values


class Policy(ABC):
    @abstractmethod
    def act(self) -> int: ...


class Acts(Reactor, Policy):
    out = Output[int]()

    @reaction(startup, effects=out)
    def begin(self, out: Any) -> None:
        out.set(self.act())


class Greedy(Acts):
    def act(self) -> int:
        return 3


class OfBoth(Reactor):
    def __init__(self, kind: Any) -> None:
        self.acts = kind()


def test_a_reactor_class_derives_from_an_abstract_class(execute: Any) -> None:
    assert values(execute(OfBoth, kind=Greedy), "OfBoth.acts.out") == [3]
    with pytest.raises(ElaborationError, match=r"OfBoth: Acts is abstract: a subclass has to define act \(.*:\d+\)"):
        elaborate(OfBoth, kind=Acts)
    assert isinstance(elaborate(Greedy).root.reactor, Policy)
