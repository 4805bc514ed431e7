"""A short label of a point, for figures and tables that name its workload elsewhere: what its name says, in words."""

from collections import Counter
from collections.abc import Iterable

from harness import quantity
from harness.plan.point_name import not_default
from harness.store.measurement_table import Measurement
from harness.store.scaling_table import ScalingRow

_SIZES = ("actors", "agents")
_OF_SCENARIO = ("env", "object_bytes", "shape")  # the scenario is made from these
_LENGTHS = ("rounds", "warmup_rounds", "seed")  # how long, and with which numbers


def point_labels(rows: Iterable[Measurement | ScalingRow]) -> dict[str, str]:
    """The label of each point, by its name. It has the scenario, the number of workers, and other changed parameters.

    Rounds and seeds are left out, unless two points of a workload would have one label.
    """
    points = {row.point: row for row in rows}
    short = Counter((row.workload, _label(row)) for row in points.values())
    return {name: _label(row, whole=short[row.workload, _label(row)] > 1) for name, row in points.items()}


def _label(row: Measurement | ScalingRow, *, whole: bool = False) -> str:
    values, left_out = row.values, () if whole else (*_OF_SCENARIO, *_LENGTHS)
    listed = not_default(row.workload, values).items()
    others = (name for name, value in listed if name not in left_out and str(value) != row.scenario)
    names = dict.fromkeys([*(name for name in _SIZES if name in values), *others])
    return ", ".join([row.scenario, *(quantity.parameter(name, values[name]) for name in names)])
