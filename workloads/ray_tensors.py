"""Tensors in Ray's messages are pickled through NumPy, by a reducer in Python's own table for foreign types.

Torch pickles a tensor with its storage, which takes many times as long for a small one. Ray's pickler reads this table,
and so does `pickle`.
"""

import copyreg
import sys
from typing import Any


def send_as_arrays(_actor: object = None) -> None:
    """Pickle tensors of this process through NumPy. Does nothing where nobody uses torch."""
    torch = sys.modules.get("torch")
    if torch is not None:
        copyreg.pickle(torch.Tensor, _reduced)


def send_as_torch_does() -> None:
    """The opposite: the way of torch itself."""
    torch = sys.modules.get("torch")
    if torch is not None:
        copyreg.dispatch_table.pop(torch.Tensor, None)


def _reduced(tensor: Any) -> Any:
    if tensor.requires_grad or not tensor.is_contiguous():
        return tensor.__reduce_ex__(5)
    return _rebuilt, (tensor.numpy(),)


def _rebuilt(array: Any) -> Any:
    """A tensor that may be kept: the array may lie in memory of Ray's, which is read-only and needed again."""
    from torch import from_numpy

    return from_numpy(array if array.flags.writeable else array.copy())
