"""Backends run in their turns, after a rest, as they do without rests. Only in `make soak`: half a minute for each.

Turns with rests and turns without take turns themselves, as the machine's speed changes. LEADS_WORKLOAD (gym_sampling)
and LEADS_BACKENDS say of what.
"""

import os
import time
from statistics import median

import pytest

from harness.measure.block import EFFORT
from harness.measure.measured_processes import Running, Subject, workload_order
from harness.plan.grid import runs_alone
from workloads.catalogue import BACKENDS

WORKLOAD = os.environ.get("LEADS_WORKLOAD", "gym_sampling")
CHOSEN = os.environ.get(
    "LEADS_BACKENDS",
    "serial reactor-inline reactor-threads reactor-processes lockstep ray-paper ray-pooled "
    "ray-pooled-compiled gymnasium-async envpool",
).split()
PARAMETERS = {"actors": 15}
REPEATED = 12
REST_S = 1.0
SETTLED = 8  # turns without rests, after which a backend's speed no longer changes
LIMIT = 1.15

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("backend", CHOSEN)
def test_a_turn_after_a_rest_is_as_long_as_one_without(backend, tmp_path):
    alone = runs_alone(PARAMETERS, BACKENDS[backend])
    subject = Subject(backend, workload_order(WORKLOAD, backend, PARAMETERS), on_one_cpu=alone)
    rested, steady = [], []
    with Running(subject, tmp_path / "log", EFFORT.limit_s) as running:
        running.settle()
        for _ in range(2 * SETTLED):
            running.turn(EFFORT.turn_ns, 0)
        running.park()
        for _ in range(REPEATED):
            time.sleep(REST_S)
            rested.append(running.turn(EFFORT.turn_ns, EFFORT.lead_of(running)).round_ns)
            steady.append(running.turn(EFFORT.turn_ns, SETTLED * EFFORT.turn_ns).round_ns)
    ratio = median(rested) / median(steady)
    print(f"{backend}: {ratio:.3f}")
    assert 1 / LIMIT < ratio < LIMIT
