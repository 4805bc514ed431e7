"""Traffic Junction, a cooperative multi-agent environment, as a PettingZoo ParallelEnv.

Sukhbaatar et al., "Learning Multiagent Communication with Backpropagation", 2016, in its version with a grid
of 14 x 14 cells and four entries. Owns the rules and the observations; draws nothing on a screen.

Two two-lane roads cross in the middle of the grid, and everybody keeps to the right. A car enters at one of four
entries and follows the route it is given (straight on, left or right). It leaves at the route's end and does not come
back.

- A car moves one cell along its route with GAS and stays with BRAKE. Cars move in the order of their numbers.
- A car that drives into an occupied cell collides: it stays where it was and gets `COLLISION_REWARD`.
- A car on the road gets `WAITING_REWARD` times the number of steps since it arrived, this one included.
- A car that reaches its route's end terminates; after `max_steps` steps the remaining agents are truncated.
- Then every free entry admits, with the arrival probability, the next car that has not yet been on the road. A reset
  does so as well. With the arrivals of the paper's program, every entry admits a car at a reset. After a step, one free
  entry drawn at random admits one.

A car sees the 3 x 3 cells around it. A cell with a car shows the car's number (one-hot), its row and column (0 to 1
each) and its route (one-hot). An empty cell and one outside of the grid show zeros. A car that is not on the road
sees zeros only.
"""

from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv

GAS, BRAKE = 0, 1
COLLISION_REWARD = -10.0
WAITING_REWARD = -0.01
GRID = 14
VIEW_CELLS = 9
ARRIVALS = ("random", "paper")

Observation: TypeAlias = npt.NDArray[np.float32]
_Pair: TypeAlias = tuple[int, int]

# By direction of travel (row, column): the entry of the lane that goes there.
_EAST, _NORTH, _WEST, _SOUTH = (0, 1), (-1, 0), (0, -1), (1, 0)
ENTRIES: dict[_Pair, _Pair] = {
    _EAST: (GRID // 2, 0),
    _NORTH: (GRID - 1, GRID // 2),
    _WEST: (GRID // 2 - 1, GRID - 1),
    _SOUTH: (0, GRID // 2 - 1),
}


def route_cells(heading: _Pair, exit_heading: _Pair) -> list[_Pair]:
    """The cells (row, column) of a route that enters towards `heading` and leaves towards `exit_heading`."""
    row, column = ENTRIES[heading]
    exit_row, exit_column = ENTRIES[exit_heading]  # of the lane that it turns into
    cells = []
    while 0 <= row < GRID and 0 <= column < GRID:
        cells.append((row, column))
        if (exit_heading[0] == 0 and row == exit_row) or (exit_heading[1] == 0 and column == exit_column):
            heading = exit_heading
        row, column = row + heading[0], column + heading[1]
    return cells


# Cells are numbered row by row in a grid with a border of one cell, so that no view reaches outside of it.
_STRIDE = GRID + 2
_VIEW = np.array([row * _STRIDE + column for row, column in product((-1, 0, 1), repeat=2)])
_POSITIONS = np.array(list(product(range(-1, GRID + 1), repeat=2)), dtype=np.float32) / (GRID - 1)


def _number(cell: _Pair) -> int:
    return (cell[0] + 1) * _STRIDE + cell[1] + 1


# Where a car is that is not on the road: no road is in view of the second cell of the second row.
_OFF_ROAD = _number((1, 1))
# By entry, then by route: straight on, left, right. Each a path of cell numbers.
_ROUTES = [
    [
        [_number(cell) for cell in route_cells((down, right), exit_heading)]
        for exit_heading in ((down, right), (-right, down), (right, -down))
    ]
    for down, right in ENTRIES
]
_ENTRY_CELLS = [routes[0][0] for routes in _ROUTES]
_ROUTE_COUNT = 3


class TrafficJunction(ParallelEnv[str, Observation, int]):  # type: ignore[misc]  # PettingZoo is untyped
    """The environment for `cars` agents, named car_0, car_1, ...; actions are GAS and BRAKE.

    An observation is a float32 array with the views of all cars in turn. Its values are in [0, 1], and its shape is
    (cars * 9 * (cars + 5),). Every agent gets the same read-only array.
    """

    def __init__(
        self, cars: int = 4, arrival_probability: float = 0.5, max_steps: int = 100, arrivals: str = "random"
    ) -> None:
        self.metadata = {"name": "traffic_junction_v0", "render_modes": []}
        self.render_mode = None
        self.possible_agents = [f"car_{number}" for number in range(cars)]
        self.agents: list[str] = []
        self._numbers = {agent: number for number, agent in enumerate(self.possible_agents)}
        self._cars = cars
        self._arrival_probability = arrival_probability
        self._max_steps = max_steps
        self._one_by_one = arrivals == "paper"
        self._generator: np.random.Generator | None = None
        features = cars * VIEW_CELLS * self.cell_features
        self._observation_spaces = {agent: Box(0.0, 1.0, (features,), np.float32) for agent in self.possible_agents}
        self._action_spaces = {agent: Discrete(2) for agent in self.possible_agents}

    @property
    def cell_features(self) -> int:
        """Numbers that describe one cell of a view: car (one-hot), row, column, route (one-hot)."""
        return self._cars + 2 + _ROUTE_COUNT

    def observation_space(self, agent: str) -> Box:
        """The space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete[np.int64]:
        """GAS and BRAKE."""
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin an episode. With a seed the episode is determined; without, the random numbers run on."""
        del options  # part of PettingZoo's interface; this environment has none
        if seed is not None or self._generator is None:
            self._generator = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        self._steps = 0
        self._arrived = 0
        self._ages = [0] * self._cars
        self._paths: list[list[int]] = [[] for _ in range(self._cars)]  # the rest of a car's route
        self._cells = np.full(self._cars, _OFF_ROAD)
        # For each cell the car in it, or `cars` for none. For each car, and for none, its part of a view.
        self._occupants = np.full(_STRIDE * _STRIDE, self._cars)
        self._shown = np.zeros((self._cars + 1, self.cell_features), dtype=np.float32)
        self._shown[: self._cars, : self._cars] = np.eye(self._cars)
        self._admit()
        return self._observe(), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, Observation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Move every car by the action of its agent; raises ValueError for what is neither GAS nor BRAKE."""
        rewards = {agent: self._drive(agent, actions[agent]) for agent in self.agents}
        terminations = {agent: self._has_left(agent) for agent in self.agents}
        self._admit()
        self._steps += 1
        ended = self._steps >= self._max_steps
        truncations = {agent: ended and not left for agent, left in terminations.items()}
        observations = self._observe()
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agents = [] if ended else [agent for agent, left in terminations.items() if not left]
        return observations, rewards, terminations, truncations, infos

    def _drive(self, agent: str, action: int) -> float:
        if action not in (GAS, BRAKE):
            raise ValueError(f"action of {agent}: expected {GAS} (gas) or {BRAKE} (brake), got {action!r}")
        car = self._numbers[agent]
        if not self._paths[car]:
            return 0.0
        self._ages[car] += 1
        reward = WAITING_REWARD * self._ages[car]
        if action == GAS:
            if self._occupants[self._paths[car][0]] == self._cars:
                self._advance(car)
            else:
                reward += COLLISION_REWARD
        return reward

    def _advance(self, car: int) -> None:
        self._occupants[self._cells[car]] = self._cars
        path = self._paths[car]
        cell = path.pop(0)
        if path:
            self._place(car, cell)
        else:  # the end of the route
            self._cells[car] = _OFF_ROAD

    def _place(self, car: int, cell: int) -> None:
        self._cells[car] = cell
        self._occupants[cell] = car
        self._shown[car, self._cars : self._cars + 2] = _POSITIONS[cell]

    def _has_left(self, agent: str) -> bool:
        car = self._numbers[agent]
        return car < self._arrived and not self._paths[car]

    def _admit(self) -> None:
        assert self._generator is not None  # made by `reset`
        if self._arrived == self._cars:
            return
        free = [entry for entry, cell in enumerate(_ENTRY_CELLS) if self._occupants[cell] == self._cars]
        if self._one_by_one and self._arrived and free:  # not at a reset
            free = [free[int(self._generator.integers(len(free)))]]
        for entry in free:
            if self._arrived < self._cars and (
                self._one_by_one or self._generator.random() < self._arrival_probability
            ):
                self._enter(entry)

    def _enter(self, entry: int) -> None:
        assert self._generator is not None
        car = self._arrived
        self._arrived += 1
        route = int(self._generator.integers(_ROUTE_COUNT))
        self._paths[car] = _ROUTES[entry][route][1:]
        self._shown[car, self._cars + 2 + route] = 1
        self._place(car, _ENTRY_CELLS[entry])

    def _observe(self) -> dict[str, Observation]:
        joint = self._shown.take(self._occupants[self._cells[:, None] + _VIEW], axis=0).reshape(-1)
        joint.flags.writeable = False  # all agents share it
        return dict.fromkeys(self.agents, joint)
