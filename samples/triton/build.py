"""Compile the Triton samples of this folder to the ``.ptx`` and ``.json`` beside this file.

Needs Triton 3.9 and no GPU::

    python samples/triton/build.py

The ``.json`` is Triton's own metadata, with the signature and the constants of the compilation, so
that ``cudarun launch`` binds arguments by name. ``--check`` writes nothing and fails when a
committed file is not what its source compiles to.
"""
# ruff: noqa: N803 - constants of Triton kernels are in capitals

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # half the size
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

FOLDER = Path(__file__).parent
PTX_VERSION = 87  # any driver of CUDA 12.8 or later


@triton.jit
def grouped_gemm(a, b, c, sizes, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Multiply several pairs of matrices, whose addresses are in arrays, with one persistent grid.

    ``sizes`` has rows, columns and depth of each pair; the depth is a multiple of ``BK``.
    """
    tile = tl.program_id(0)
    first = 0
    for group in range(groups):
        rows = tl.load(sizes + 3 * group)
        columns = tl.load(sizes + 3 * group + 1)
        depth = tl.load(sizes + 3 * group + 2)
        left = tl.load(a + group).to(tl.pointer_type(tl.float16))
        right = tl.load(b + group).to(tl.pointer_type(tl.float16))
        result = tl.load(c + group).to(tl.pointer_type(tl.float32))
        across = tl.cdiv(columns, BN)
        end = first + tl.cdiv(rows, BM) * across
        while tile < end:
            i = (tile - first) // across * BM + tl.arange(0, BM)
            j = (tile - first) % across * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            total = tl.zeros((BM, BN), tl.float32)
            for start in range(0, depth, BK):
                x = tl.load(
                    left + i[:, None] * depth + (start + k)[None, :], i[:, None] < rows, 0.0
                )
                y = tl.load(
                    right + (start + k)[:, None] * columns + j[None, :], j[None, :] < columns, 0.0
                )
                total = tl.dot(x, y, total)
            inside = (i[:, None] < rows) & (j[None, :] < columns)
            tl.store(result + i[:, None] * columns + j[None, :], total, inside)
            tile += tl.num_programs(0)
        first = end


@triton.jit
def attention(q, k, v, o, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Attention without a matrix of scores in memory; all tensors are descriptors of the host.

    The rows of all heads are in one tensor, ``length`` rows per head; ``scale`` has the factor
    log2(e) of ``exp2``.
    """
    head = tl.program_id(1) * length
    row = head + tl.program_id(0) * BM
    queries = q.load([row, 0])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        scores = tl.dot(queries, k.load([head + start, 0]).T) * scale
        larger = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        factor = tl.exp2(largest - larger)
        total = total * factor + tl.sum(weights, 1)
        result = tl.dot(weights.to(tl.float16), v.load([head + start, 0]), result * factor[:, None])
        largest = larger
    o.store([row, 0], (result / total[:, None]).to(tl.float16))


TILE = "tensordesc<fp16[64,64]>"
SAMPLES = {
    grouped_gemm: (
        {"a": "*i64", "b": "*i64", "c": "*i64", "sizes": "*i32", "groups": "i32"},
        {"BM": 64, "BN": 64, "BK": 32},
    ),
    attention: (
        {"q": TILE, "k": TILE, "v": TILE, "o": TILE, "length": "i32", "scale": "fp32"},
        {"BM": 64, "BN": 64, "D": 64},
    ),
}


def documents() -> dict[Path, str]:
    """Return the contents of all files."""
    found = {}
    for kernel, (types, constants) in SAMPLES.items():
        signature = {**types, **dict.fromkeys(constants, "constexpr")}
        source = ASTSource(kernel, signature=signature, constexprs=constants)
        options = {"ptx_version": PTX_VERSION}
        compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
        facts = {**compiled.metadata._asdict(), "signature": signature, "constants": constants}
        del facts["extern_libs"], facts["hash"]  # a path, and a number that depends on it
        name = compiled.metadata.name
        found[FOLDER / f"{name}.ptx"] = compiled.asm["ptx"]
        found[FOLDER / f"{name}.json"] = json.dumps(facts, default=vars, indent=1) + "\n"
    return found


def main() -> int:
    """Write or compare the files."""
    changed = [
        path for path, text in documents().items() if not path.exists() or path.read_text() != text
    ]
    for path, text in documents().items():
        if path in changed and "--check" not in sys.argv:
            path.write_text(text)
        if path in changed:
            print(f"{'differs' if '--check' in sys.argv else 'wrote'}  {path.name}")
    return bool(changed) and "--check" in sys.argv


if __name__ == "__main__":
    sys.exit(main())
