"""Tensors of PyTorch as arrays in host memory, and arrays as the tensors that came in."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt


def is_tensor(value: object) -> bool:
    """Return whether a value is a tensor; PyTorch is not imported for it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def host_array(name: str, value: Any) -> Any:
    """Return a tensor as an array; any other value unchanged.

    A tensor of a GPU is copied to host memory. One that requires a gradient is detached.

    Raises:
        TypeError: It is sparse or quantized, or numpy has no type for its elements.
    """
    if not is_tensor(value):
        return value
    torch = sys.modules["torch"]
    if value.layout is not torch.strided or value.is_quantized:
        raise TypeError(f"{name}: a tensor of {value.dtype} and {value.layout} is not an argument")
    plain = value.detach().resolve_conj().resolve_neg().cpu().contiguous()
    try:
        return plain.numpy()
    except TypeError:  # numpy itself has no bf16 and fp8
        import ml_dtypes

        dtype = getattr(ml_dtypes, str(value.dtype).removeprefix("torch."), None)
        if dtype is None:
            raise TypeError(f"{name}: a tensor of {value.dtype} is not an argument") from None
        return plain.reshape(-1).view(torch.uint8).numpy().view(dtype).reshape(value.shape)


def tensor_like(array: npt.NDArray[Any], given: Any) -> Any:
    """Return an array as a tensor with the dtype and on the device of a given one."""
    torch = sys.modules["torch"]
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return torch.from_numpy(data).view(given.dtype).reshape(array.shape).to(given.device)
