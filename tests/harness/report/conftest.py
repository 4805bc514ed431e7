"""Summaries of rows to order."""

import json

import pytest

from tests.harness.report import made_up


@pytest.fixture
def results(tmp_path, row):
    """Writes rows, given as backend -> values by trial, and returns the directory's summary."""

    def write(*points, described=made_up.MACHINE, details=(), setting=(), **changes):
        rows = []
        for number, backends in enumerate(points):
            given = {"actors": number + 2, "env": "CartPole-v1", "rounds": 10 + number, **dict(setting)}
            parameters = json.dumps(given)
            rows += [
                row(backend=backend, trial=trial, value=value, parameters=parameters, **changes)
                for backend, values in backends.items()
                for trial, value in enumerate(values)
            ]
        return made_up.summary(tmp_path, rows, trials=details, described=described)

    return write
