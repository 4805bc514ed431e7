"""The metrics of a task: their names, units and directions. Measures nothing."""

from typing import Any

# All other metrics are times and sizes.
HIGHER_IS_BETTER = frozenset({"throughput"})
# A point is compared by the first of these that it has.
MAIN_METRICS = ("overhead", "throughput", "round_time")


def units(task: Any) -> dict[str, str]:
    """The metrics of a task and their units, in the order of the rows."""
    noun, _ = work(task)
    names = {"throughput": f"{noun}s/s", "round_time": "ns"}
    if hasattr(task, "work_seconds"):
        names["overhead"] = "ns"
    return names | {"startup_time": "ns", "peak_rss": "bytes", "cpu_time": f"ns/{noun}"}


def simulated_ns(task: Any, workers: int | None) -> float:
    """How long a round's simulated work takes on these workers, None for one per member, if nothing else takes time."""
    pieces: int = -(-task.members // (workers or task.members))
    return pieces * float(getattr(task, "work_seconds", 0.0)) * 1e9


def work(task: Any) -> tuple[str, float]:
    """The unit of a task's work, singular, and the work of a round."""
    if task.metric == "throughput":
        return task.unit.removesuffix("/s").removesuffix("s"), task.units_per_round
    return "round", 1
