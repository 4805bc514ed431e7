"""The paper's further figures: broadcast and gather, Q-learning, and Traffic Junction."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from harness import quantity
from harness.report.figures import figure_points as shared
from harness.report.summary import RAY_PAPER, Cell, PointSummary, Summary
from harness.stats import intervals
from harness.stats.intervals import Estimate
from harness.store.recorded_turns import RecordedTurn
from plots.chart import Chart, LinePanel, Points, Scale

_MIB, _MB = 2**20, 10**6
_NS_PER_MS = 1e6
_INLINED = 100 * 1024  # bytes: Ray's default of max_direct_call_object_size
_ROUNDS, _STEPS = 500, 100_000  # of the paper's published values of Q-learning and of Traffic Junction


def by_actors(summary: Summary, *, everything: bool) -> Chart | None:
    """Overhead of broadcast and gather by number of actors."""
    return _gathered(summary, everything, "actors", 1, Scale("actors", quantity.count), "arrays of 10 MiB")


def by_object_size(summary: Summary, *, everything: bool) -> Chart | None:
    """Overhead of broadcast and gather by size of the array."""
    sizes = [point.parameters.get("object_bytes", 0) for point in summary.points]
    unit = _MB if any(size and size % _MB == 0 for size in sizes) else _MIB  # of the published sizes
    return _gathered(summary, everything, "object_bytes", unit, Scale("size of the array", quantity.size), "16 actors")


def _gathered(summary: Summary, everything: bool, varied: str, unit: int, x: Scale, condition: str) -> Chart | None:
    found = shared.sweep(summary, "broadcast_gather", "overhead", [varied])
    if not found.points or (len(found.points) == 1 and varied != "actors"):  # one point has one figure
        return None
    name, y = "Broadcast and gather", Scale("overhead of a round", quantity.duration_tick)
    notes = ["Overhead: a round without its simulated work."]
    if len(found.points) == 1:
        return shared.bar_chart(summary, found, name, y, lambda point: point.label, *notes, everything=everything)
    figure = "broadcast_gather_actors" if varied == "actors" else "broadcast_gather_size"
    chosen = shared.backends(summary, found.points, everything=everything, also=[RAY_PAPER])
    own = shared.curves((point.parameters[varied], shared.values_at(point, chosen)) for point in found.points)
    reference = shared.published_curves(figure, unit, _NS_PER_MS)
    notes += [shared.published_note(condition)] if reference else []
    sizes = [point.parameters[varied] for point in found.points]
    if varied == "object_bytes" and min(sizes) <= _INLINED < max(sizes):
        notes.append("Ray sends up to 100 KiB within a message, a larger array by its object store.")
    title = shared.against_best_ray(summary, found.points, name, f"{y.label} by {x.label}")
    return shared.chart(title, found.subtitle, [LinePanel("", x, y, own | reference)], *notes, *found.notes)


def q_learning(summary: Summary, *, everything: bool) -> Chart | None:
    """Time to train for 500 rounds, as many as the published times are of, a panel for each minibatch."""
    found = shared.sweep(summary, "q_learning", "throughput", ["minibatch"])
    if not {"actors", "steps"} <= found.setting.keys():
        return None
    scale = Scale(f"time for {_ROUNDS:,} rounds, from the throughput", quantity.duration_tick)
    return shared.bar_chart(
        summary, found, "Q-learning", scale,
        lambda point: f"minibatch of {point.parameters['minibatch']:,} transitions",
        value=shared.time_of(_ROUNDS * found.setting["actors"] * found.setting["steps"]), everything=everything,
        beside=lambda point: shared.published_at("q_learning", point.parameters["minibatch"], shared.NS),
        published_for=f"{_ROUNDS:,} rounds of 16 actors, 100 steps each",
    )  # fmt: skip


def by_agents(summary: Summary, *, everything: bool) -> Chart | None:
    """Time of Traffic Junction for 100,000 steps, by number of agents and by the least time of a step."""
    found = shared.sweep(summary, "multi_agent", "throughput", ["agents", "step_busy_us"])

    def title(point: PointSummary) -> str:
        busy = point.parameters.get("step_busy_us")
        return f"{point.parameters['agents']} agents" + (f", steps of {busy:g} us" if busy else "")

    def beside(point: PointSummary) -> dict[str, Estimate]:
        agents, busy = point.parameters["agents"], point.parameters.get("step_busy_us")
        return {} if busy else shared.published_at("multi_agent_agents", agents, shared.NS)

    scale = Scale(f"time for {_STEPS:,} steps, from the throughput", quantity.duration_tick)
    return shared.bar_chart(
        summary, found, "Traffic Junction", scale, title, value=shared.time_of(_STEPS), everything=everything,
        beside=beside, published_for=f"{_STEPS:,} steps",
    )  # fmt: skip


def by_steps(summary: Summary, *, everything: bool) -> Chart | None:
    """Time elapsed at each tenth of the measured steps, a panel per number of agents."""
    found = shared.sweep(summary, "multi_agent", "throughput", ["agents"])
    panels, measured = [], []
    for point in found.points:
        chosen = shared.backends(summary, [point], everything=everything, also=[RAY_PAPER])
        elapsed = {cell.backend: _elapsed(summary, point, cell) for cell in point.cells if cell.backend in chosen}
        curves = {backend: curve for backend, curve in elapsed.items() if curve}
        if curves:
            measured.append(point)
            panels.append(_steps_panel(f"{point.parameters['agents']} agents, measured", curves))
    reference = shared.published_curves("multi_agent_episodes")
    if panels and reference:
        panels.append(_steps_panel("4 agents, published in 2024", reference))
    title = shared.against_best_ray(summary, measured, "Traffic Junction", "time elapsed by steps")
    return shared.chart(title, found.subtitle, panels, "Elapsed time at each tenth of a backend's timed turns.")


def _steps_panel(title: str, curves: Mapping[str, Points]) -> LinePanel:
    return LinePanel(
        title, Scale("environment steps", log=False), Scale("time elapsed (s)", "{:g}".format, log=False), curves
    )


def _elapsed(summary: Summary, point: PointSummary, cell: Cell) -> Points:
    """By steps done, the seconds that have passed in the recorded turns; empty without turns."""
    taken = summary.turns.of(point.name, cell.backend).values()
    trials = [[turns[sweep] for sweep in sorted(turns)] for turns in taken]
    round_ns = cell.metrics.get("round_time")
    if not trials or round_ns is None or cell.main is None:
        return {}
    steps_per_round = round(cell.main.value * round_ns.value / shared.NS)
    steps = steps_per_round * fmean(sum(turn.rounds for turn in turns) for turns in trials)
    shares = [tenth / 10 for tenth in range(1, 11)]
    return {steps * share: intervals.mean([_seconds_at(share, turns) for turns in trials]) for share in shares}


def _seconds_at(share: float, turns: Sequence[RecordedTurn]) -> float:
    """When this share of the rounds was done; within a turn its rounds are taken to be equally long."""
    done = np.cumsum([0, *(turn.rounds for turn in turns)])
    passed_ns = np.cumsum([0, *(turn.wall_ns for turn in turns)])
    return float(np.interp(share * done[-1], done, passed_ns)) / shared.NS
