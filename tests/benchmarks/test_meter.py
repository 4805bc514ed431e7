"""Laps: the first is the warm-up, the others are counted."""

from benchmarks import meter
from benchmarks.interleaving import interleaved_costs, ratios
from benchmarks.meter import Cost, Meter


def test_laps_are_counted_after_the_warm_up(monkeypatch):
    cpu, wall = iter([100, 130, 170]), iter([0, 1_000, 2_000])
    monkeypatch.setattr(meter, "process_time_ns", lambda: next(cpu))
    monkeypatch.setattr(meter, "perf_counter_ns", lambda: next(wall))
    laps = Meter(warmup=5, tags=10, laps=2)
    assert [laps.next_lap(), laps.next_lap(), laps.next_lap()] == [10, 10, 0]
    assert laps.costs == [Cost(30, 1_000), Cost(40, 1_000)]
    assert laps.per_tag == Cost(3.5, 100)


def test_a_warm_up_may_be_all():
    assert Meter(warmup=5, tags=0, laps=0).next_lap() == 0


def test_alternatives_are_measured_in_turn():
    order = []

    def measured(name):
        order.append(name)
        return Cost(len(order), 0)

    first, second = interleaved_costs(3, [lambda: measured("a"), lambda: measured("b")])
    assert "".join(order) == "abbaab"
    assert [cost.cpu_ns for cost in first] == [1, 4, 5]
    assert ratios(second, first) == [2, 0.75, 1.2]
