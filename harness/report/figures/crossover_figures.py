"""When does Ray catch up? The lead of reactors by what a step takes, what it sends, and steps per message."""

from collections.abc import Callable, Mapping, Sequence
from math import prod

from harness import quantity
from harness.grouping import grouped
from harness.report.figures import figure_points as shared
from harness.report.summary import RAY, PointSummary, Summary
from harness.stats.intervals import Estimate
from harness.stats.judgement import TOO_FEW
from plots.chart import Chart, LinePanel, Points, Scale
from workloads import made_up
from workloads.environment import MADE_UP

# Within this they are as good as each other.
_AS_GOOD = 1.1
_LEVELS = (_AS_GOOD, 1.0, 1 / _AS_GOOD)
_CONDITION = "\n"  # in a title
_LEAD = Scale("reactors over Ray (x)", log=True)

# Step time in ns, bytes of an observation, steps per message.
_Place = tuple[int, int, int]
_AXES: tuple[tuple[str, Callable[[float], str]], ...] = (
    ("time of a step", quantity.duration_tick),
    ("size of an observation", quantity.size),
    ("steps per message", quantity.tick),
)


def crossover(summary: Summary, **_: bool) -> Chart | None:
    """The lead on made-up environments, of which one of the three varies and the others stand still."""
    found = shared.sweep(summary, "gym_sampling", "throughput", ["env", "steps_per_message"])
    places: dict[_Place, Mapping[str, Estimate]] = {}
    for point in found.points:
        place, cell = _place(point), point.cell(summary.ours)
        leads = {name: one for name, one in cell.speedups.items() if name.startswith(RAY)} if cell else {}
        if place is not None and leads:
            places[place] = leads
    panels = [_panel(places, row, axis) for axis in range(len(_AXES)) if (row := _row(places, axis))]
    told = panels[0].title.partition(_CONDITION)[0] if panels else ""
    return shared.chart(
        f"When does Ray catch up? {told}",
        found.subtitle,
        panels,
        "Environments compute for a given time and return given bytes. Between the dashed lines: within 10 %.",
    )


def _place(point: PointSummary) -> _Place | None:
    env = str(point.parameters.get("env"))
    if not env.startswith(MADE_UP):
        return None
    step_ns, shape, longest_ns = made_up.parsed(env.removeprefix(MADE_UP))
    # A logarithmic axis has no place for nothing.
    has_place = 0 < step_ns == longest_ns
    return (step_ns, prod(shape), int(point.parameters.get("steps_per_message", 1))) if has_place else None


def _row(places: Mapping[_Place, object], axis: int) -> list[_Place]:
    """The longest row of places that differ along one axis only; empty without two."""
    rows = grouped(places, lambda place: place[:axis] + place[axis + 1 :])
    longest = max((rows[others] for others in sorted(rows)), key=len, default=[])
    return sorted(longest) if len(longest) > 1 else []


def _panel(places: Mapping[_Place, Mapping[str, Estimate]], row: Sequence[_Place], axis: int) -> LinePanel:
    curves = shared.curves((place[axis], places[place]) for place in row)
    step_ns, nbytes, steps = row[0]
    words = (f"{quantity.duration_tick(step_ns)} a step", f"{nbytes}-byte observations",
             f"{quantity.counted(steps, 'step')} per message")  # fmt: skip
    fixed = ", ".join(word for at, word in enumerate(words) if at != axis)
    return LinePanel(f"{_told(curves, *_AXES[axis])}{_CONDITION}{fixed}", Scale(*_AXES[axis]), _LEAD, curves, _LEVELS)


def _told(curves: Mapping[str, Points], label: str, text: Callable[[float], str]) -> str:
    """From which value of an axis on, or else at which values, the best of Ray's backends is within 10 %."""
    xs = sorted({x for points in curves.values() for x in points})
    best = {x: min((points[x] for points in curves.values() if x in points), key=lambda one: one.value) for x in xs}
    within = [x for x in xs if best[x].value <= _AS_GOOD]
    reached = [x for x in within if all(later in within for later in xs if later >= x)]
    if reached:
        told = f"from {text(reached[0])} on"
    elif within:
        told = f"Ray is within 10 % at {', '.join(map(text, within))}"
    else:
        last = best[xs[-1]]
        word = TOO_FEW if not last.decides else "undecided" if last.low <= _AS_GOOD else "Ray is not within 10 %"
        told = f"{word} up to {text(xs[-1])}"
    return f"{label[0].upper()}{label[1:]}: {told}"
