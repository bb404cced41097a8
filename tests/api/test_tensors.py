"""Tensors of PyTorch in and out, with every dtype that cudarun has. They need PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudarun

torch: Any = pytest.importorskip("torch")

COPY = """
extern "C" __global__ void copy(const void* x, void* y, int size) {
    for (int i = threadIdx.x; i < size; i += blockDim.x) ((char*)y)[i] = ((const char*)x)[i];
}
"""


def copied(x: Any, y: Any) -> Any:
    size = x.numel() * x.element_size()
    args = {"x": x, "y": y, "size": size}
    return cudarun.launch(COPY, device="cpu", block=32, args=args, allow_type_mismatch=True)["y"]


@pytest.mark.parametrize(
    "dtype",
    [
        *("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
        *("complex64", "complex128", "int8", "uint8", "int16", "int32", "int64", "bool"),
    ],
)
def test_a_tensor_comes_back_as_one(dtype: str) -> None:
    kind = getattr(torch, dtype)
    x = torch.arange(12).reshape(3, 4).to(torch.float32).to(kind)
    result = copied(x, torch.zeros(3, 4, dtype=torch.float32).to(kind))
    assert type(result) is torch.Tensor
    assert (result.dtype, result.shape) == (kind, (3, 4))
    assert torch.equal(result.view(torch.uint8), x.view(torch.uint8))


def test_strides_gradients_and_lazy_signs() -> None:
    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    result = copied(x.T, torch.zeros(4, 3))
    assert torch.equal(result, x.T.detach())
    assert not result.requires_grad
    z = torch.complex(torch.arange(3.0), torch.ones(3)).conj()
    assert torch.equal(copied(z, torch.zeros(3, dtype=torch.complex64)), z.resolve_conj())


def test_an_array_stays_an_array() -> None:
    result = copied(torch.arange(4.0), np.zeros(4, np.float32))
    assert type(result) is np.ndarray
    assert result.tolist() == [0, 1, 2, 3]


def test_what_is_no_argument() -> None:
    with pytest.raises(TypeError, match=r"x: a tensor of torch\.float32 and torch\.sparse_coo"):
        copied(torch.eye(3).to_sparse(), torch.zeros(9))


def test_arrays_by_dlpack() -> None:
    """Tensors are read without `__array__`, and results are read by other libraries in place."""
    xp = pytest.importorskip("array_api_strict")
    result = copied_array(xp.asarray([1.0, 2.0], dtype=xp.float32), np.zeros(2, np.float32))
    assert type(result) is np.ndarray
    tensor = torch.from_dlpack(result)
    tensor += 1
    assert result.tolist() == [2, 3]
    x = xp.asarray([[1, 2], [3, 4]], dtype=xp.int32)
    own = copied_array(x, xp.zeros_like(x))
    assert type(own) is type(x)
    assert xp.all(own == x)


def copied_array(x: Any, y: Any) -> Any:
    args = {"x": x, "y": y, "size": np.from_dlpack(x).nbytes}
    return cudarun.launch(COPY, device="cpu", block=32, args=args, allow_type_mismatch=True)["y"]
