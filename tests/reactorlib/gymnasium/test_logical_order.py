"""Logical time, or the record of a replay, decides the batches of a pool. Both go on from a saved state."""

import functools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reactorlib.gymnasium import ReactorPool, ReplayError
from reactorlib.gymnasium.contract import difference, probes
from reactorlib.gymnasium.pool.batch_order import BatchOrder, Entry
from reactorlib.gymnasium.pool.record import read
from tests.reactorlib.gymnasium.environments import made
from tests.reactorlib.gymnasium.random_pools import WAYS, RandomPool, run


def batches(durations: list[int], counts: list[int]) -> list[list[int]]:
    order = BatchOrder(durations)
    order.note(Entry("reset_async", [*range(len(durations))], [[None] * len(durations)]))
    chosen = []
    for count in counts:
        ids = order.choose(count)
        assert order.choose(count) == ids
        assert ids is not None
        order.note(Entry("recv", ids, []))
        order.note(Entry("send", sorted(ids), []))
        chosen.append(ids)
    return chosen


def test_those_are_chosen_that_are_due_first() -> None:
    assert batches([1, 3], [1, 1, 1, 1, 1]) == [[0], [0], [1], [0], [0]]  # at 1, 2, 3, 3, 4


def test_those_that_are_due_at_once_go_in_the_order_in_which_they_were_sent_to() -> None:
    assert batches([5] * 4, [2, 2, 3, 1]) == [[0, 1], [2, 3], [0, 1, 2], [3]]


@pytest.mark.parametrize("way", [WAYS[0], WAYS[2], WAYS[5]])
@pytest.mark.parametrize("probe", ["Dict", "infos of every kind"])
def test_logical_order_is_the_same_on_every_number_of_workers(pool: Any, probe: str, way: dict[str, Any]) -> None:
    durations = [1, 4, 2, 2, 7]
    ours = pool(made(probe, 5), order="logical", durations=durations, **way)
    ours.reset_async(seed=1)
    log = run(ours, 20, [2, 1, 3])
    expected = batches(durations, [2, 1, 3] * 7)[:20]
    assert [sorted(ids) for ids in expected] == [batch[-1]["env_id"].tolist() for batch in log]
    alone = pool(made(probe, 5), order="logical", durations=durations, workers=5)
    alone.reset_async(seed=1)
    assert difference(log, run(alone, 20, [2, 1, 3]), "batches") is None


class Lasting(probes.Quiet):
    """Declares how long a step takes."""

    @property
    def duration(self) -> int:
        return 1 + 2 * (self.number % 2)


def test_an_environment_may_declare_its_duration(pool: Any) -> None:
    ours = pool([functools.partial(Lasting, number) for number in range(4)], order="logical", workers=2)
    ours.reset_async(seed=1)
    assert [batch[-1]["env_id"].tolist() for batch in run(ours, 4, [2])] == [[0, 2], [0, 2], [1, 3], [0, 2]]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"order": "random"}, "order"),
        ({"durations": [1, 1]}, "order='logical'"),
        ({"order": "logical", "replay": "x"}, "replay"),
        ({"record": "x", "replay": "x"}, "replay"),
        ({"order": "logical"}, "environment 0"),
        ({"order": "logical", "durations": [1]}, "1 durations for 2"),
        ({"order": "logical", "durations": [1, 0]}, "environment 1"),
        ({"order": "logical", "durations": [1, 1.5]}, "environment 1"),
        ({"replay": __file__}, "no record"),
    ],
)
def test_orders_that_make_no_sense_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        ReactorPool(made("no infos", 2), workers=1, **options)


@pytest.mark.parametrize("way", [WAYS[0], WAYS[2], WAYS[5]])
@pytest.mark.parametrize("order", [{}, {"order": "logical", "durations": [1, 2, 3, 4, 5]}])
def test_a_replay_returns_the_batches_of_its_record(
    pool: Any, tmp_path: Path, way: dict[str, Any], order: dict[str, Any]
) -> None:
    path = tmp_path / "record"
    first = pool(made("Dict", 5), workers=3, record=path, **order)
    first.reset_async()  # without seeds: the record has those that were drawn
    log = run(first, 20, [2, 1])
    again = pool(made("Dict", 5), replay=path, **way)
    again.reset_async()
    assert difference(run(again, 20, [2, 1]), log, "batches") is None
    with pytest.raises(ReplayError, match="ends"):
        again.recv(1)


def test_a_record_may_end_in_the_middle_of_an_entry(pool: Any, tmp_path: Path) -> None:
    path, broken = tmp_path / "record", tmp_path / "broken"
    first = pool(made("no infos", 3), workers=1, record=path)
    first.reset_async(seed=1)
    log = run(first, 5, [2])
    first.close()
    broken.write_bytes(path.read_bytes()[:-7])  # of the part that was sent after the last batch
    again = pool(made("no infos", 3), workers=1, replay=broken)
    again.reset_async(seed=1)
    with pytest.raises(ReplayError, match="ends") as raised:
        run(again, 5, [2])
    assert raised.value.batch == 5
    assert len([entry for entry in read(path)[1] if entry.call == "recv"]) == len(log)
    broken.write_bytes(path.read_bytes()[:-1] + b"\xff\xff" + path.read_bytes())
    with pytest.raises(pickle.UnpicklingError):
        list(read(broken)[1])


class Other(probes.Quiet):
    """The second of them has another reward, or another observation, than it had."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(number)
        self.what = what

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        if self.number == 1:
            return (-observation, reward, *rest) if self.what == "observation" else (observation, reward + 1, *rest)
        return (observation, reward, *rest)


def test_a_replay_names_what_is_not_as_in_the_record(pool: Any, tmp_path: Path) -> None:
    path = tmp_path / "record"
    first = pool(made("no infos", 3), workers=1, record=path, order="logical", durations=[1, 1, 1])
    first.reset(seed=1)
    for _ in range(5):
        first.step(np.array([0, 1, 2]))
    first.close()

    def replayed(make: Any = made("no infos", 3)) -> Any:  # noqa: B008  # functions
        return pool(make, workers=1, replay=path)

    with pytest.raises(ReplayError, match="seed 7") as raised:
        replayed().reset(seed=[1, 7, 3])
    assert (raised.value.batch, raised.value.environment) == (0, 1)
    again = replayed()
    again.reset(seed=1)
    with pytest.raises(ReplayError, match="action") as raised:
        again.step(np.array([0, 1, 1]))
    assert (raised.value.batch, raised.value.environment) == (1, 2)
    again = replayed()
    again.reset(seed=1)
    for call in (lambda: again.send([0], [0]), lambda: again.reset_async(seed=1)):
        with pytest.raises(ReplayError):
            call()
    for what in ("reward", "observation"):
        other = replayed([functools.partial(Other, number, what) for number in range(3)])
        other.reset(seed=1)
        with pytest.raises(ReplayError, match=what) as raised:
            other.step(np.array([0, 1, 2]))
        assert (raised.value.batch, raised.value.environment) == (1, 1)
    assert isinstance(pickle.loads(pickle.dumps(raised.value)), ReplayError)
    with pytest.raises(ValueError, match="3 environments"):
        pool(made("no infos", 2), workers=1, replay=path)


def test_a_replay_begins_where_its_record_went_on_from_a_saved_state(pool: Any, tmp_path: Path) -> None:
    first = pool(made("no infos", 4), workers=2)
    first.reset_async(seed=1)
    run(first, 5, [2])
    state = first.save()
    second = pool(made("no infos", 4), workers=2, record=tmp_path / "record")
    second.restore(state)
    log = run(second, 10, [2])
    assert next(read(tmp_path / "record")[1]).call == "restore"
    again = pool(made("no infos", 4), workers=1, replay=tmp_path / "record")
    with pytest.raises(ReplayError, match="restore"):
        again.reset_async(seed=1)
    run(first, 1, [2])
    with pytest.raises(ReplayError, match="state"):
        again.restore(first.save())
    again.restore(state)
    assert difference(run(again, 10, [2]), log, "batches") is None


@pytest.mark.parametrize("seed", range(3))
def test_random_pools_return_the_same_bits_in_every_way(seed: int, tmp_path: Path) -> None:
    RandomPool(seed, tmp_path).check(WAYS if seed == 0 else WAYS[2:4])
