"""Spans to phases: who decides what a moment counts as, and that no moment is lost or counted twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.store.phase_table import COMPUTE, HUB, PHASES, SERIALISE, SUBMIT
from harness.studies.breakdown.phases import BLOCKED, LaneSpan, attribute

KINDS = (HUB, COMPUTE, SERIALISE, SUBMIT, BLOCKED)


def phases(*spans, began=0, ended=100, capacity=2, otherwise=HUB):
    found = attribute([LaneSpan(*span) for span in spans], began, ended, capacity, otherwise)
    return {phase: value for phase, value in found.items() if value}


def test_where_nothing_was_recorded_the_hub_does_what_it_does_otherwise():
    assert phases() == {"hub": 100}
    assert phases(otherwise=SUBMIT) == {"submit": 100}


def test_what_the_hub_does_counts_whatever_the_workers_do():
    hub = ("hub", SERIALISE, 0, 30), ("hub", SUBMIT, 30, 40)
    assert phases(*hub, ("worker", COMPUTE, 0, 100)) == {"serialise": 30, "submit": 10, "hub": 60}


def test_the_innermost_span_counts():
    call = ("hub", SUBMIT, 10, 60), ("hub", SERIALISE, 20, 30), ("hub", SERIALISE, 22, 24)
    assert phases(*call) == {"hub": 50, "submit": 40, "serialise": 10}
    # A span that ends with the one around it gives way to what is around both.
    assert phases(("hub", BLOCKED, 0, 50), ("hub", SERIALISE, 20, 50)) == {"transfer": 20, "serialise": 30, "hub": 50}


def test_while_the_hub_waits_the_workers_share_the_time():
    wait = ("hub", BLOCKED, 0, 100)
    assert phases(wait) == {"transfer": 100}
    assert phases(wait, ("a", COMPUTE, 0, 100), ("b", COMPUTE, 0, 100)) == {"compute": 100}
    assert phases(wait, ("a", COMPUTE, 20, 60), ("b", COMPUTE, 20, 40)) == {"transfer": 60, "compute": 30, "wait": 10}
    assert phases(wait, ("a", COMPUTE, 0, 50), ("b", SERIALISE, 0, 100)) == {"compute": 25, "serialise": 50, "wait": 25}
    more = [(name, COMPUTE, 0, 100) for name in "abc"]  # than fit
    assert phases(wait, *more, ("d", SERIALISE, 0, 100)) == {"compute": 100}


def test_a_hub_that_works_as_a_worker_is_one_of_them():
    assert phases(("hub", COMPUTE, 0, 100), otherwise=SUBMIT) == {"compute": 50, "wait": 50}
    assert phases(("hub", COMPUTE, 0, 100), capacity=1) == {"compute": 100}
    assert phases(("hub", COMPUTE, 0, 100), ("a", COMPUTE, 50, 100)) == {"compute": 75, "wait": 25}


def test_only_what_lies_between_the_two_moments_counts():
    spans = ("hub", BLOCKED, 0, 40), ("a", COMPUTE, 10, 30), ("hub", SUBMIT, 90, 200)
    assert phases(*spans, began=20, ended=100, capacity=1) == {"compute": 10, "transfer": 10, "hub": 50, "submit": 10}


def test_a_span_that_outlasts_the_one_around_it_by_the_clocks_error_ends_with_it():
    spans = ("hub", BLOCKED, 0, 100), ("a", SERIALISE, 0, 51), ("a", COMPUTE, 50, 80)
    assert phases(*spans, capacity=1) == {"serialise": 50, "compute": 1, "transfer": 49}


@st.composite
def lanes(draw):
    """Properly nested spans of a few lanes."""
    spans = []
    for lane in draw(st.lists(st.sampled_from(["hub", "a", "b"]), unique=True)):
        waiting = [(0, 200)]
        while waiting:
            low, high = waiting.pop()
            if high - low >= 4 and draw(st.booleans()):
                began = draw(st.integers(low, high - 1))
                ended = draw(st.integers(began + 1, high))
                spans.append(LaneSpan(lane, draw(st.sampled_from(KINDS)), began, ended))
                waiting += [(began, ended), (ended, high)]
    return draw(st.permutations(spans))


@given(lanes(), st.integers(0, 200), st.integers(0, 200), st.integers(1, 3), st.sampled_from([HUB, SUBMIT]))
def test_the_phases_add_up_to_the_time_and_the_order_of_spans_does_not_matter(spans, one, other, capacity, otherwise):
    began, ended = sorted((one, other))
    found = attribute(spans, began, ended, capacity, otherwise)
    assert tuple(found) == PHASES
    assert sum(found.values()) == pytest.approx(ended - began)
    assert min(found.values()) >= 0
    assert attribute(sorted(spans), began, ended, capacity, otherwise) == pytest.approx(found)
