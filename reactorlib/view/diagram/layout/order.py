"""Who stands above whom in each column: barycentres from side to side, then swaps, with the fewest crossings kept."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence

from reactorlib.view.diagram.layout.chains import Pin, Wire
from reactorlib.view.diagram.layout.network import Vertex

SWEEPS = 10
SWAPS = 4  # rounds of swapping neighbours
STRAIGHTER = 0.04  # what a straight lane may cost, in crossings
SMALL = 60  # columns up to this size are worth swapping in

Columns = list[list[Vertex]]


def ordered(vertices: Iterable[Vertex], wires: Sequence[Wire], columns: int) -> Columns:
    """The vertices by column, from top to bottom."""
    return _Ordering(vertices, wires, columns).best()


class _Ordering:
    def __init__(self, vertices: Iterable[Vertex], wires: Sequence[Wire], columns: int) -> None:
        self.columns: Columns = [[] for _ in range(columns)]
        for vertex in vertices:
            self.columns[vertex.column].append(vertex)
        for column in self.columns:
            column.sort(key=lambda vertex: vertex.row)
        self.position: dict[int, float] = {}
        self.gaps: dict[int, list[Wire]] = defaultdict(list)
        self.beside: dict[tuple[int, str], list[Pin]] = defaultdict(list)  # neighbours on a side
        self.mates: dict[int, list[Pin]] = defaultdict(list)  # of a lane: what turns into it
        for wire in wires:
            self.gaps[wire.gap].append(wire)
            if wire.turns:
                other = wire.two if wire.one.vertex is wire.lane else wire.one
                self.mates[id(wire.lane)].append(other)
            else:
                self.beside[id(wire.one.vertex), "right"].append(wire.two)
                self.beside[id(wire.two.vertex), "left"].append(wire.one)
        for column in self.columns:
            self._number(column)

    def best(self) -> Columns:
        """Sweep from left to right and back, swap, and keep the best order seen."""
        best, fewest = [list(column) for column in self.columns], self._cost()
        for sweep in range(SWEEPS):
            if not fewest:
                break
            towards = sweep % 2 == 0
            for column in self.columns if towards else reversed(self.columns):
                self._sort(column, "left" if towards else "right")
            self._swap()
            cost = self._cost()
            if cost < fewest:
                best, fewest = [list(column) for column in self.columns], cost
        self._restore(best)
        self._sink_lanes()
        return self.columns

    def _restore(self, columns: Columns) -> None:
        self.columns = columns
        for column in columns:
            self._number(column)

    def _sink_lanes(self) -> None:
        """A lane runs straight below all else, where that crosses nothing more."""
        heads = [v for c in self.columns for v in c if v.kind == "lane" and not self.beside.get((id(v), "left"))]
        for head in heads:
            lane = {id(head)}
            at = head
            while following := self.beside.get((id(at), "right")):
                at = following[0].vertex
                lane.add(id(at))
            before, cost = self.columns, self._cost()
            self._restore([sorted(column, key=lambda v: (v.row, id(v) in lane)) for column in before])
            if self._cost() > cost + STRAIGHTER:
                self._restore(before)

    def _number(self, column: list[Vertex]) -> None:
        for place, vertex in enumerate(column):
            self.position[id(vertex)] = float(place)

    def _at(self, pin: Pin) -> float:
        """The height of a pin in units of vertices: ports of one box keep their order."""
        vertex = pin.vertex
        return self.position[id(vertex)] + (pin.offset / (vertex.height + 1) if vertex.height else 0.5)

    def _sort(self, column: list[Vertex], side: str) -> None:
        if column and column[0].kind in ("input", "output"):
            return  # ports keep the order in which they are declared
        wish: dict[int, float] = {}
        for vertex in column:
            pins = self.beside.get((id(vertex), side), [])
            if pins:
                wish[id(vertex)] = _mean([self._at(pin) for pin in pins])
            elif id(vertex) not in self.mates:
                wish[id(vertex)] = self.position[id(vertex)]
        for vertex in column:
            if id(vertex) not in wish:
                mates = [wish[id(pin.vertex)] for pin in self.mates[id(vertex)] if id(pin.vertex) in wish]
                wish[id(vertex)] = _mean(mates) + 0.01 if mates else self.position[id(vertex)]
        column.sort(key=lambda vertex: (vertex.row, wish[id(vertex)]))
        self._number(column)

    # Crossings

    def _cost(self) -> float:
        return sum(self._cost_of(gap) for gap in sorted(self.gaps))

    def _cost_of(self, gap: int) -> float:
        """Crossings in a gap; and, far below one crossing, how far lanes stand from what turns into them."""
        across: list[tuple[float, float]] = []
        turns: list[tuple[str, float, float]] = []
        for wire in self.gaps[gap]:
            one, two = self._at(wire.one), self._at(wire.two)
            if wire.turns:
                turns.append((wire.one.side, min(one, two), max(one, two)))
            else:
                across.append((one, two))
        cost = float(_inversions(across))
        for side, low, high in turns:
            cost += 0.01 * (high - low)
            if len(turns) > SMALL:
                continue  # quadratic, and of no help to the eye in such a crowd
            cost += sum(low < (one if side == "right" else two) < high for one, two in across)
            cost += sum(side == other and low < a < high < b for other, a, b in turns)
        return cost

    def _swap(self) -> None:
        for _ in range(SWAPS):
            if not any(self._swap_in(number) for number, column in enumerate(self.columns) if len(column) <= SMALL):
                return

    def _swap_in(self, number: int) -> bool:
        column = self.columns[number]
        if column and column[0].kind in ("input", "output"):
            return False
        touched = [gap for gap in (number - 1, number) if gap in self.gaps]
        better = False
        before = sum(self._cost_of(gap) for gap in touched)
        for place in range(len(column) - 1):
            if column[place].row != column[place + 1].row:
                continue
            self._exchange(column, place)
            after = sum(self._cost_of(gap) for gap in touched)
            if after < before - 1e-9:
                before, better = after, True
            else:
                self._exchange(column, place)
        return better

    def _exchange(self, column: list[Vertex], place: int) -> None:
        column[place], column[place + 1] = column[place + 1], column[place]
        self.position[id(column[place])] = float(place)
        self.position[id(column[place + 1])] = float(place + 1)


def _inversions(pairs: list[tuple[float, float]]) -> int:
    """How many pairs of wires across a gap cross; wires with an end in common don't."""
    pairs.sort()
    seen: list[float] = []
    crossings = 0
    waiting: list[float] = []
    last: float | None = None
    for one, two in pairs:
        if one != last:
            for height in waiting:
                insort(seen, height)
            waiting, last = [], one
        crossings += len(seen) - bisect_right(seen, two)
        waiting.append(two)
    return crossings


def _mean(values: Sequence[float]) -> float:
    total = 0.0  # in order, one by one: sum() of floats rounds differently from one Python version to another
    for value in values:
        total += value
    return total / len(values)
