"""The effort of a run, for readers who measure it again."""

from types import SimpleNamespace

from harness.report import reproduction


def test_the_starts_of_a_workload_are_those_of_its_points_from_the_fewest_to_the_most():
    taken = {"small": 5, "large": 3}
    trials = [
        SimpleNamespace(workload="w", parameters=name, backend=backend, trial=trial, duration_s=2.0, peak_bytes=2**20)
        for name, count in taken.items()
        for backend in ("serial", "ray-paper")
        for trial in range(count)
    ]
    points = [SimpleNamespace(workload="w", cell=lambda _: None) for _ in taken]
    (row,) = reproduction.table(SimpleNamespace(trials=trials, points=points, ours="reactor-processes")).rows
    assert row[:4] == ("w", "3 to 5", "32 s", "1 MiB")
