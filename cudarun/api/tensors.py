"""Tensors as arrays in host memory, and arrays as the tensors that came in.

Those of PyTorch, and of other libraries by DLPack and the array API standard (2024.12).
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt


def is_tensor(value: object) -> bool:
    """Return whether a value is a tensor; PyTorch is not imported for it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: object) -> bool:
    """Return whether a value is an array, or one by DLPack."""
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def host_array(name: str, value: Any) -> Any:
    """Return a tensor as an array; any other value unchanged.

    A tensor of a GPU is copied to host memory. One that requires a gradient is detached.

    Raises:
        TypeError: It is sparse or quantized, numpy has no type for its elements, or another library
            has it in memory that is not the host's.
    """
    if not is_tensor(value):
        if hasattr(value, "__array__") or not is_array(value):
            return value
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError) as error:
            raise TypeError(f"{name}: {error}; pass a copy in host memory") from None
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


def array_like(array: npt.NDArray[Any], given: Any) -> Any:
    """Return an array as what a given one is: a tensor, or an array of another library."""
    if is_tensor(given):
        torch = sys.modules["torch"]
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return torch.from_numpy(data).view(given.dtype).reshape(array.shape).to(given.device)
    if isinstance(given, np.ndarray | np.generic) or not hasattr(given, "__array_namespace__"):
        return array
    return given.__array_namespace__().from_dlpack(array)
