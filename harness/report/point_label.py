"""A short label of a point, for figures and tables that name its workload elsewhere: what its name says, in words."""

from harness import quantity
from harness.plan.point_name import not_default
from harness.store.measurement_table import Measurement
from harness.store.scaling_table import ScalingRow

_SIZES = ("actors", "agents")
_OF_SCENARIO = ("env", "object_bytes", "shape")  # the scenario is made from these
_LENGTHS = ("rounds", "warmup_rounds", "seed")  # how long, and with which numbers


def point_label(row: Measurement | ScalingRow, *, whole: bool = False) -> str:
    """The scenario, the number of workers, and which other parameters are not at their defaults.

    Points that differ in their rounds or seeds alone have one label, unless it is the `whole` one.
    """
    values, left_out = row.values, () if whole else (*_OF_SCENARIO, *_LENGTHS)
    listed = not_default(row.workload, values).items()
    others = (name for name, value in listed if name not in left_out and str(value) != row.scenario)
    names = dict.fromkeys([*(name for name in _SIZES if name in values), *others])
    return ", ".join([row.scenario, *(quantity.parameter(name, values[name]) for name in names)])
