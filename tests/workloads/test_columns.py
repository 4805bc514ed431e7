"""Rows come back from their columns as they were, and only rows with equal arrays have columns."""

import pickle

import numpy as np
import pytest

from workloads.columns import columns_of, rows_of

torch = pytest.importorskip("torch")


def array(*values, dtype=np.float32):
    return np.array(values, dtype)


def told(value):
    """A value with the type of each part of it."""
    if type(value) in (tuple, list):
        return type(value), [told(one) for one in value]
    return type(value), getattr(value, "dtype", None), getattr(value, "shape", None), repr(value)


JOINED = {
    "steps in lists": [[(array(i), i), (array(i + 1), i)] for i in range(3)],
    "tensors": [(torch.arange(3.0) + i, i, torch.arange(2) + i) for i in range(3)],
    "steps of environments": [(array(1, 2), 1.0, False), (array(3, 4), 0.5, True)],
    "numbers of NumPy": [(np.float64(1.5), np.bool_(True)), (np.float64(2.5), np.bool_(False))],
    "several steps of each": [((array(i), i), (array(i + 1), i)) for i in range(3)],
    "one step of each, in a tuple": [((array(i), i),) for i in range(3)],
    "arrays of two dimensions": [(np.arange(6).reshape(2, 3),)] * 2,
    "bare arrays": [array(1, 2), array(3, 4), array(5, 6)],
    "arrays beside texts, bytes and lists": [(array(i), "a", b"bc", [i]) for i in range(2)],
    "a column of arrays that differ beside one of equal ones": [(array(1), array(1)), (array(2), array(3, 4))],
}
PLAIN = {
    "none": [],
    "a single one": [(array(1), 2)],
    "Python's own values": [(0, 1.0), (1, 2.0)],
    "tuples of two lengths": [(array(1),), (array(1), 2)],
    "tuples beside lists": [(array(1),), [array(1)]],
    "empty tuples": [(), ()],
    "arrays of two shapes": [(array(1),), (array(1, 2),)],
    "arrays of two types": [(array(1),), (array(1, dtype=np.float64),)],
    "arrays beside numbers": [(array(1),), (1,)],
    "arrays that are not contiguous": [(np.arange(4)[::2],)] * 2,
    "arrays of objects": [(np.array([None]),)] * 2,
    "records": [(np.zeros(1, [("a", int)]),)] * 2,
    "empty arrays": [(np.zeros(0),)] * 2,
    "arrays without a dimension": [(np.array(1.0),)] * 2,
    "tensors that learn": [(torch.ones(2, requires_grad=True),)] * 2,
    "tensors of two shapes": [(torch.ones(2),), (torch.ones(3),)],
    "tensors of two types": [(torch.ones(2),), (torch.ones(2, dtype=torch.int64),)],
    "tensors that are not contiguous": [(torch.ones(2, 3).T,)] * 2,
    "tensors of a type that NumPy lacks": [(torch.ones(2, dtype=torch.bfloat16),)] * 2,
    "lists of numbers": [[1, 2], [3, 4]],
    "a subclass of arrays": [(np.ma.masked_array([1]),)] * 2,
    "bare arrays of two shapes": [array(1), array(1, 2)],
}


@pytest.mark.parametrize("case", JOINED)
def test_equal_arrays_are_joined_and_come_back(case):
    rows = JOINED[case]
    columns = columns_of(rows)
    assert columns is not rows
    assert told(rows_of(pickle.loads(pickle.dumps(columns)))) == told(rows)


@pytest.mark.parametrize("case", PLAIN)
def test_other_rows_stay_as_they_are(case):
    rows = PLAIN[case]
    assert columns_of(rows) is rows
    assert rows_of(rows) is rows


def test_a_pickle_of_columns_calls_nothing_for_an_array():
    rows = [(array(i), float(i)) for i in range(100)]
    assert b"numpy" in pickle.dumps(rows)
    assert b"numpy" not in pickle.dumps(columns_of(rows))


def test_a_trajectory_of_tensors_is_sent_by_column_and_its_rows_may_be_changed_one_by_one():
    rows = [(torch.full((3,), float(i)), i) for i in range(4)]
    message = pickle.dumps(columns_of(rows))
    assert b"torch" not in message
    received = rows_of(pickle.loads(message))
    received[1][0].add_(1)
    assert [row[0].tolist() for row in received] == [[0] * 3, [2] * 3, [2] * 3, [3] * 3]
