"""Tensors in Ray's messages: the same bits in fewer steps, in every style but Ray's own."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from tests.pages import ROOT
from workloads import ray_tensors

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def as_arrays():
    ray_tensors.send_as_arrays()
    yield
    ray_tensors.send_as_torch_does()


def sent(value):
    return pickle.loads(pickle.dumps(value, protocol=5))


@pytest.mark.parametrize(
    "value",
    [
        torch.arange(4.0),
        torch.tensor(3),
        torch.tensor([True, False]),
        torch.zeros((0, 3)),
        torch.arange(6.0).reshape(2, 3).T,
        torch.ones(2, requires_grad=True),
    ],
    ids=str,
)
def test_a_tensor_arrives_with_its_type_shape_strides_and_bits(value):
    found = sent(value)
    assert (found.dtype, found.shape, found.stride()) == (value.dtype, value.shape, value.stride())
    assert found.requires_grad == value.requires_grad
    assert torch.equal(found, value)


def test_a_small_tensor_takes_less_room_than_torch_needs():
    value = torch.arange(4.0)
    short = len(pickle.dumps(value, protocol=5))
    ray_tensors.send_as_torch_does()
    assert short < len(pickle.dumps(value, protocol=5)) / 2


def test_a_tensor_of_read_only_memory_may_be_kept_and_written():
    buffers = []
    head = pickle.dumps(torch.arange(4.0), protocol=5, buffer_callback=buffers.append)
    memory = bytes(buffers[0].raw())
    found = pickle.loads(head, buffers=[memory])
    found += 1
    assert found.tolist() == [1, 2, 3, 4]
    assert np.frombuffer(memory, np.float32).tolist() == [0, 1, 2, 3]


CODE = """
import pickle, torch
from workloads.probe import Probe
from workloads.ray_session import session
from workloads import ray_tensors

class Actor:
    def __init__(self):
        self.tensor = torch.arange(4.0)
    def pickled(self):
        return pickle.dumps(self.tensor, protocol=5)
    def reply(self, value):
        return value + self.tensor

for style in {styles}:
    with session(style, Probe(1, 0, verify=False)) as ray_session:
        import ray
        (actor,) = ray_session.start(Actor, [()])
        ray_session.await_actors()
        there = b"ray_tensors" in ray.get(actor.pickled.remote())
        here = b"ray_tensors" in pickle.dumps(torch.arange(4.0), protocol=5)
        print(style, there, here, ray.get(actor.reply.remote(torch.ones(4))).tolist())
"""


@pytest.mark.real
def test_driver_and_actors_send_arrays_except_in_the_paper_s_style():
    code = CODE.format(styles=("tuned", "paper"))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "tuned True True [1.0, 2.0, 3.0, 4.0]",
        "paper False False [1.0, 2.0, 3.0, 4.0]",
    ]
