"""Compile four Triton kernels, for a GPU that need not be there, into a cache folder.

::

    python -m tools.hardware.triton_kernels FOLDER [--arch 90] [softmax …]

Needs Triton, and no PyTorch. Prints the path of each cubin; its ``.json`` and ``.ptx`` lie beside
it. ``tests/data/triton`` has what Triton 3.6.0 made of three of them with
``TRITON_DISABLE_LINE_INFO=1``; ``extern_libs``, which is paths, is left out of the ``.json``.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(y, x, stride, columns, BLOCK: tl.constexpr):  # noqa: N803
    """Softmax of each row; a program a row."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    values = tl.load(x + row * stride + offsets, mask=mask, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * stride + offsets, powers / tl.sum(powers, axis=0), mask=mask)


@triton.jit
def matmul(c, a, b, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):  # noqa: N803
    """``c = a @ b`` of row-major half-precision matrices, in tiles of M×N, accumulated in f32."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        inner = start + tl.arange(0, K)
        left = tl.load(
            a + rows[:, None] * k + inner[None, :],
            mask=(rows[:, None] < m) & (inner[None, :] < k),
            other=0.0,
        )
        right = tl.load(
            b + inner[:, None] * n + columns[None, :],
            mask=(inner[:, None] < k) & (columns[None, :] < n),
            other=0.0,
        )
        total += tl.dot(left, right)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=mask)


@triton.jit
def tiles(y, x, rows, columns, SIDE: tl.constexpr):  # noqa: N803
    """Copy tile by tile through tensor descriptors, which a kernel makes in its global scratch."""
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [SIDE, SIDE])
    target = tl.make_tensor_descriptor(y, [rows, columns], [columns, 1], [SIDE, SIDE])
    place = [tl.program_id(0) * SIDE, tl.program_id(1) * SIDE]
    target.store(place, source.load(place))


@triton.jit
def clustered(y, x, n, BLOCK: tl.constexpr):  # noqa: N803
    """``y = x + 1``; compiled for programs of two blocks, a cluster each."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y + offsets, tl.load(x + offsets, mask=mask) + 1, mask=mask)


KERNELS = {
    "softmax": (softmax, "*fp32 *fp32 i32 i32", {"BLOCK": 1024}, {"num_warps": 4}),
    "matmul": (
        matmul,
        "*fp32 *fp16 *fp16 i32 i32 i32",
        {"M": 64, "N": 64, "K": 32},
        {"num_warps": 4},
    ),
    "tiles": (tiles, "*fp32 *fp32 i32 i32", {"SIDE": 32}, {"num_warps": 4}),
    "clustered": (clustered, "*fp32 *fp32 i32", {"BLOCK": 512}, {"num_warps": 2, "num_ctas": 2}),
}
"""Function, types of the arguments, constants, options."""


def compile_kernel(name: str, folder: Path, architecture: int) -> Path:
    """Compile one kernel; return the path of its cubin in the cache."""
    function, types, constants, options = KERNELS[name]
    names = function.arg_names
    signature = dict(zip(names, types.split(), strict=False)) | dict.fromkeys(
        constants, "constexpr"
    )
    places = {(names.index(each),): value for each, value in constants.items()}
    os.environ["TRITON_CACHE_DIR"] = os.fspath(folder)
    source = ASTSource(fn=function, signature=signature, constexprs=places)
    triton.compile(source, target=GPUTarget("cuda", architecture, 32), options=options)
    return max(folder.glob(f"*/{name}.cubin"), key=lambda path: path.stat().st_mtime)


def main() -> int:
    """Compile what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(KERNELS)}; default: all")
    parser.add_argument("--arch", type=int, default=90, help="90 for sm_90, the default")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.name or KERNELS:
        print(compile_kernel(name, options.folder.resolve(), options.arch))
    return 0


if __name__ == "__main__":
    sys.exit(main())
