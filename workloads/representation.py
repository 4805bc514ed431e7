"""In what messages are sent: contiguous arrays, or the paper's small tensors. Which a task does with it is its own."""

from typing import Any

from workloads.parameter import parameter

ARRAYS = "arrays"
TENSORS = "tensors"  # the paper's


def representation(what: str) -> Any:
    """The parameter of a task whose messages come in both; every backend sends what it says."""
    return parameter(ARRAYS, f"{what}: in contiguous arrays, or in small tensors as the paper has them",
                     choices=(ARRAYS, TENSORS))  # fmt: skip
