"""The gallery's programs do the same on every executor, and what their page says."""

import pytest

from examples.gallery import bank_counter, control_loop, federation, sensor_replay, word_count
from reactorlib import HOUR, MSEC, run

PROGRAMS = {
    "sensor_replay": (sensor_replay.Replay, {"fast": True}),
    "bank_counter": (bank_counter.Office, {"fast": True, "timeout": 8 * HOUR}),
    "word_count": (word_count.Pipeline, {}),
    "federation": (federation.Federation, {}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_executor_does_the_same(name):
    program, options = PROGRAMS[name]
    alone = run(program, trace=True, **options)
    for executor in ("threads", "processes"):
        assert run(program, executor=executor, workers=2, trace=True, **options).digest == alone.digest


def test_a_recording_is_replayed_at_its_times():
    trace = run(sensor_replay.Replay, trace=True, fast=True).trace
    assert [
        (record.tag.time // MSEC, value)
        for record in trace
        if record.reaction == "Replay.odometer.send"
        for _, value in record.writes
    ] == sensor_replay.ODOMETER


def test_the_valve_closes_when_the_controller_is_late():
    trace = run(control_loop.Loop, trace=True, timeout=900 * MSEC).trace
    flows = [record.writes[0][1] for record in trace if record.reaction.startswith("Loop.valve")]
    assert flows[: control_loop.LATE_AT][-1] == 0
    assert all(flows[: control_loop.LATE_AT - 1])


def test_all_customers_are_served_in_order():
    trace = run(bank_counter.Office, trace=True, fast=True, timeout=8 * HOUR).trace
    served = [number for record in trace if record.reaction == "Office.line.match" for _, number in record.writes]
    assert served == list(range(1, len(served) + 1))
    assert len(served) > 100


def test_the_sites_find_the_line():
    trace = run(federation.Federation, rounds=100, trace=True).trace
    averages = [value for record in trace for path, value in record.writes if path == "Federation.server.average"]
    assert averages[-1] == pytest.approx((2, 1), abs=0.01)
