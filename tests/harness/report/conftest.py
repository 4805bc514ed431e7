"""Summaries of rows to order."""

import json

import pytest

from harness.report.summary import summarise
from harness.store import machine
from harness.store.measurement_table import MEASUREMENTS
from harness.store.trial_records import TRIALS
from tests.harness.report.made_up import MACHINE


@pytest.fixture
def results(tmp_path, row):
    """Writes rows, given as backend -> values by trial, and returns the directory's summary."""

    def write(*points, described=MACHINE, details=(), setting=(), **changes):
        (tmp_path / machine.FILE_NAME).write_text(json.dumps(described))
        rows = []
        for number, backends in enumerate(points):
            for backend, values in backends.items():
                given = {"actors": number + 2, "env": "CartPole-v1", "rounds": 10 + number, **dict(setting)}
                parameters = json.dumps(given)
                rows += [
                    row(backend=backend, trial=trial, value=value, parameters=parameters, **changes)
                    for trial, value in enumerate(values)
                ]
        MEASUREMENTS.write(tmp_path, rows)
        TRIALS.write(tmp_path, details)
        return summarise(tmp_path)

    return write
