"""The rules of Traffic Junction, each seen from outside: through observations, rewards and ends."""

from typing import NamedTuple

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from workloads.multi_agent.traffic_junction import BRAKE, GAS, TrafficJunction

CENTRE = 4  # of the nine cells of a view
STRAIGHT, LEFT, RIGHT = range(3)


class Seen(NamedTuple):
    """The features of a car in a cell of a view."""

    car: int
    row: int
    column: int
    route: int


def cells_of(observation, cars):
    """The joint observation by car, cell and feature."""
    return observation.reshape(cars, 9, cars + 5)


def seen_in(cell, cars):
    """The car that a cell shows, or None; fails for a cell that is neither empty nor well-formed."""
    if not cell.any():
        return None
    number, position, route = cell[:cars], cell[cars : cars + 2], cell[cars + 2 :]
    assert number.sum() == 1
    assert route.sum() == 1
    row, column = (round(float(part) * 13) for part in position)
    return Seen(int(number.argmax()), row, column, int(route.argmax()))


class Junction:
    """An environment with the last results, acted on by car number: cars that are not named brake."""

    def __init__(self, cars, seed=0, arrival_probability=1.0, **options):
        self.cars = cars
        self.env = TrafficJunction(cars, arrival_probability, **options)
        self.observations, _ = self.env.reset(seed=seed)

    def step(self, *gas):
        actions = {agent: GAS if int(agent[4:]) in gas else BRAKE for agent in self.env.agents}
        self.observations, rewards, terminations, truncations, _ = self.env.step(actions)
        self.rewards = {int(agent[4:]): reward for agent, reward in rewards.items()}
        self.terminated = {int(agent[4:]) for agent, ended in terminations.items() if ended}
        self.truncated = {int(agent[4:]) for agent, ended in truncations.items() if ended}

    def where(self, car):
        """The cell in which a car sees itself."""
        joint = next(iter(self.observations.values()))
        return seen_in(cells_of(joint, self.cars)[car, CENTRE], self.cars)


def junction_with_route(cars, car, route, **options):
    """A junction with all four entries taken, by the first seed that gives this route to a car."""
    for seed in range(100):
        junction = Junction(cars, seed, **options)
        if junction.where(car).route == route:
            return junction
    raise AssertionError("no seed gives the route")


def turned_left(cell, times):
    """A cell of the grid turned counterclockwise by 90 degrees `times` times."""
    row, column = cell
    for _ in range(times):
        row, column = 13 - column, row
    return row, column


# Of the car that enters from the west, as (row, column).
FROM_WEST = {
    STRAIGHT: [(7, column) for column in range(14)],
    LEFT: [(7, column) for column in range(8)] + [(row, 7) for row in range(6, -1, -1)],
    RIGHT: [(7, column) for column in range(7)] + [(row, 6) for row in range(8, 14)],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cars", [1, 4, 10])
def test_passes_pettingzoos_own_tests(cars, capsys):
    parallel_api_test(TrafficJunction(cars), num_cycles=300)
    parallel_seed_test(lambda: TrafficJunction(cars), num_cycles=120)
    assert "Passed" in capsys.readouterr().out


@pytest.mark.parametrize(("cars", "features"), [(4, 324), (10, 1350)])
def test_has_the_papers_numbers_of_features(cars, features):
    env = TrafficJunction(cars)
    observations, _ = env.reset(seed=0)
    for agent in env.possible_agents:
        assert observations[agent].shape == (features,)
        assert observations[agent].dtype == np.float32
        assert observations[agent] in env.observation_space(agent)


@pytest.mark.parametrize("route", [STRAIGHT, LEFT, RIGHT])
@pytest.mark.parametrize("entry", range(4))
def test_a_car_follows_its_route_from_each_entry(entry, route):
    expected = [turned_left(cell, entry) for cell in FROM_WEST[route]]
    junction = junction_with_route(4, entry, route)
    path = []
    while entry not in getattr(junction, "terminated", ()):
        path.append(junction.where(entry)[1:3])
        junction.step(entry)
    assert path == expected[:-1]  # it leaves the grid on reaching the last cell
    assert len(path) == len(expected) - 1


def test_a_braking_car_stays():
    junction = Junction(4)
    before = [junction.where(car) for car in range(4)]
    junction.step()
    assert [junction.where(car) for car in range(4)] == before


def test_each_step_on_the_road_costs_a_hundredth_more_than_the_one_before():
    junction = Junction(5)
    for step in range(1, 6):
        junction.step()
        assert [junction.rewards[car] for car in range(5)] == [-0.01 * step] * 4 + [0.0]


def test_moving_costs_as_much_time_as_waiting():
    junction = Junction(4)
    for step in range(1, 5):
        junction.step(0)
        assert junction.rewards[0] == -0.01 * step


def test_driving_into_a_car_costs_ten_and_moves_nobody():
    junction = Junction(5)
    junction.step(0)  # the entry is free for car 4
    assert junction.where(0)[1:3] == (7, 1)
    assert junction.where(4)[1:3] == (7, 0)
    junction.step(4)
    assert junction.rewards[4] == pytest.approx(-10.01, abs=1e-12)
    assert junction.rewards[0] == -0.02
    assert junction.where(0)[1:3] == (7, 1)
    assert junction.where(4)[1:3] == (7, 0)


def test_a_car_may_follow_one_that_moves_before_it():
    junction = Junction(5)
    junction.step(0)
    junction.step(0, 4)
    assert junction.rewards[4] == -0.01
    assert junction.where(0)[1:3] == (7, 2)
    assert junction.where(4)[1:3] == (7, 1)


def test_cars_arrive_in_order_at_free_entries_only():
    junction = Junction(7)
    assert [junction.where(car) is not None for car in range(7)] == [True] * 4 + [False] * 3
    junction.step()
    assert junction.where(4) is None
    junction.step(2)
    assert junction.where(4)[1:3] == (6, 13)
    assert junction.where(5) is None
    junction.step(0, 1)
    assert junction.where(5)[1:3] == (7, 0)
    assert junction.where(6)[1:3] == (13, 7)


def test_without_arrivals_the_roads_stay_empty_and_free_of_charge():
    junction = Junction(4, arrival_probability=0.0)
    for _ in range(20):
        assert not junction.observations["car_0"].any()
        junction.step(0, 1, 2, 3)
        assert set(junction.rewards.values()) == {0.0}


def test_an_entry_admits_a_car_with_the_arrival_probability():
    junction = Junction(4, arrival_probability=0.5)
    admitted = []
    for _ in range(1_000):
        junction.observations, _ = junction.env.reset()
        admitted.append(sum(junction.where(car) is not None for car in range(4)))
    assert np.mean(admitted) == pytest.approx(4 * 0.5, abs=0.1)


def test_all_three_routes_are_given_equally_often():
    routes = [Junction(4, seed).where(car).route for seed in range(200) for car in range(4)]
    assert np.bincount(routes) / len(routes) == pytest.approx([1 / 3] * 3, abs=0.05)


def test_a_car_that_left_never_returns_and_frees_its_cell():
    junction = junction_with_route(5, 0, RIGHT)
    while 0 not in getattr(junction, "terminated", ()):
        junction.step(0)
    assert junction.rewards[0] == pytest.approx(-0.12, abs=1e-12)  # thirteen cells: twelve moves
    assert "car_0" in junction.observations  # the last one
    assert junction.where(0) is None
    assert junction.env.agents == ["car_1", "car_2", "car_3", "car_4"]
    for _ in range(10):
        junction.step(4)
        assert "car_0" not in junction.observations
        assert 0 not in junction.rewards
        assert junction.where(0) is None
    assert junction.rewards[4] > -1  # nobody in its way


def test_the_episode_ends_when_every_car_has_left():
    junction = Junction(1)
    steps = 0
    while junction.env.agents:
        junction.step(0)
        steps += 1
    assert 12 <= steps <= 14
    assert junction.terminated == {0}
    assert not junction.truncated


@pytest.mark.parametrize("max_steps", [1, 100])
def test_the_episode_is_cut_off_after_the_last_step(max_steps):
    junction = Junction(4, max_steps=max_steps)
    for _ in range(max_steps - 1):
        junction.step()
        assert not junction.truncated
    junction.step()
    assert junction.truncated == {0, 1, 2, 3}
    assert not junction.terminated
    assert junction.env.agents == []


def test_a_car_that_leaves_at_the_last_step_terminates_and_the_others_are_cut_off():
    junction = junction_with_route(4, 0, RIGHT, max_steps=12)
    for _ in range(12):
        junction.step(0)
    assert junction.terminated == {0}
    assert junction.truncated == {1, 2, 3}


def test_a_car_sees_its_neighbours_in_their_places():
    junction = Junction(5)
    junction.step(0)
    joint = cells_of(junction.observations["car_0"], 5)
    ahead, behind = 5, 3  # of the nine cells, row by row; both cars are eastbound
    assert seen_in(joint[4, ahead], 5) == junction.where(0)
    assert seen_in(joint[0, behind], 5) == junction.where(4)
    assert [index for index in range(9) if joint[4, index].any()] == [CENTRE, ahead]


def test_views_show_what_a_map_of_all_cars_shows():
    generator = np.random.default_rng(3)
    junction = Junction(10, seed=5, arrival_probability=0.7)
    for _ in range(60):
        cars = [junction.where(car) for car in range(10)]
        at = {seen[1:3]: seen for seen in cars if seen is not None}
        assert len(at) == sum(seen is not None for seen in cars)  # one car per cell
        joint = cells_of(next(iter(junction.observations.values())), 10)
        for car, seen in enumerate(cars):
            for index, (down, right) in enumerate((d, r) for d in (-1, 0, 1) for r in (-1, 0, 1)):
                expected = at.get((seen.row + down, seen.column + right)) if seen else None
                assert seen_in(joint[car, index], 10) == expected
        junction.step(*np.flatnonzero(generator.random(10) < 0.6))


def test_agents_share_one_observation_that_none_can_change():
    observations = Junction(4).observations
    assert len({id(observation) for observation in observations.values()}) == 1
    with pytest.raises(ValueError, match="read-only"):
        observations["car_0"][0] = 1


def test_a_seed_determines_an_episode_and_none_runs_on():
    def episode(env, **seeding):
        observations, _ = env.reset(**seeding)
        seen = [next(iter(observations.values()))]
        while env.agents:
            observations, *_ = env.step(dict.fromkeys(env.agents, GAS))
            seen.append(next(iter(observations.values())))
        return np.array(seen[:10])

    env = TrafficJunction(10)
    first = episode(env, seed=4)
    following = episode(env)
    assert np.array_equal(episode(TrafficJunction(10), seed=4), first)
    assert np.array_equal(episode(env, seed=4), first)
    assert np.array_equal(episode(env), following)
    assert not np.array_equal(first, following)
    assert not np.array_equal(episode(env, seed=5), first)


def test_names_an_action_that_does_not_exist():
    env = TrafficJunction(2)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action of car_1: expected 0 \(gas\) or 1 \(brake\), got 2"):
        env.step({"car_0": GAS, "car_1": 2})


def test_with_the_papers_arrivals_four_cars_start_and_one_more_comes_with_each_step():
    for seed in range(5):
        junction = Junction(10, seed, arrival_probability=0.0, arrivals="paper")
        arrived = []
        for _ in range(12):
            arrived.append(sum(junction.where(car) is not None for car in range(10)))
            junction.step(*range(10))
        assert arrived[0] == 4
        assert set(np.diff(arrived[:6])) <= {0, 1}  # before the first car has left; none where all entries are taken
        assert arrived[5] == 9


def test_with_the_papers_arrivals_nobody_comes_while_all_entries_are_taken():
    junction = Junction(6, arrivals="paper")
    junction.step()
    assert [junction.where(car) is not None for car in range(6)] == [True] * 4 + [False] * 2


def test_the_entry_of_the_papers_arrivals_is_drawn():
    entries = set()
    for seed in range(30):
        junction = Junction(5, seed, arrivals="paper")
        junction.step(*range(4))
        seen = junction.where(4)
        entries.add((seen.row, seen.column))
    assert len(entries) == 4
