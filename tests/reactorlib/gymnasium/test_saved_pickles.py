"""Each state that `save` accepts can be restored: of pickles that cannot be loaded, and of side effects of a trial."""

import functools
import random
from typing import Any

import gymnasium
import pytest

from reactorlib.gymnasium import ReactorPool, ResumeError
from reactorlib.gymnasium.contract import difference, probes
from tests.reactorlib.gymnasium.test_saving import several, steps


class Forwarding(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Asks its environment for any attribute that it lacks, also before it has one."""

    def __init__(self, number: int) -> None:
        super().__init__(probes.Quiet(number))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)


class Careful(Forwarding):
    """Does so with care."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.env, name)


class Obliging(probes.Quiet):
    """Has any attribute, as a proxy of a remote environment."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: name


class Unloadable(probes.Quiet):
    """Can be pickled, but no other process can load that."""

    def __setstate__(self, state: Any) -> None:
        random.random()
        raise FileNotFoundError("a file of the first process")


class Releasing(probes.Quiet):
    """Releases something when it is forgotten."""

    released = 0

    def __del__(self) -> None:
        Releasing.released += 1


@pytest.mark.parametrize("way", [{"executor": "inline"}, {"workers": 2}], ids=str)
@pytest.mark.parametrize("kind", [Forwarding, Obliging, Unloadable])
def test_an_environment_whose_pickle_cannot_be_loaded_is_saved_by_its_actions(vector: Any, kind: Any, way: Any) -> None:
    ours = vector(several(kind), **way)
    ours.reset(seed=1)
    with pytest.raises(ResumeError, match="resumable=True") as raised:
        ours.save()
    assert kind.__name__ in str(raised.value)
    ours, again = (vector(several(kind), resumable=True, **way) for _ in range(2))
    ours.action_space.seed(1)
    ours.reset(seed=4)
    steps(ours, 3)
    again.restore(ours.save())
    assert difference(steps(again), steps(ours), "steps") is None


def test_a_wrapper_that_forwards_with_care_is_saved_by_its_pickle(vector: Any) -> None:
    ours, again = (vector(several(Careful), workers=2) for _ in range(2))
    ours.reset(seed=4)
    again.restore(ours.save())
    assert difference(steps(again), steps(ours), "steps") is None


def test_a_save_changes_nothing_where_it_is_made(vector: Any) -> None:
    ours = vector([*several(Releasing, 2), functools.partial(Unloadable, 2)], executor="inline")
    ours.reset(seed=4)
    Releasing.released, before = 0, random.getstate()
    with pytest.raises(ResumeError):
        ours.save()
    assert (Releasing.released, random.getstate()) == (0, before)


def test_a_duration_that_is_no_number_is_refused(vector: Any) -> None:
    with pytest.raises(ValueError, match="duration"):
        vector(several(Obliging), kind=ReactorPool, order="logical", workers=1)


class Counting(probes.Quiet):
    """Counts how often a pickle of it is loaded."""

    loaded = 0

    def __setstate__(self, state: Any) -> None:
        vars(self).update(state)
        Counting.loaded += 1


def test_one_pickle_of_each_kind_is_loaded_in_a_process(vector: Any) -> None:
    ours = vector(several(Counting), executor="inline")
    ours.reset(seed=4)
    Counting.loaded = 0
    for _ in range(2):
        ours.save()
    assert Counting.loaded == 1
