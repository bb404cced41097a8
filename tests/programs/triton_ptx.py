"""Compile the Triton kernels of ``tests/programs/triton`` to PTX for sm_80; no GPU is needed.

::

    python tests/programs/triton_ptx.py [FOLDER] [NAME …]   # default: triton/, all of them

Needs Triton (3.6.0 made those that are committed), and no PyTorch. Beside each ``.ptx`` goes a
``.json`` with what launching it takes, as in Triton's cache. The PTX says ``.version 8.0`` and has
no debug sections.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

FOLDER = Path(__file__).resolve().parent / "triton"
_LAUNCH = ("name", "num_warps", "shared", "num_ctas", "launch_cooperative_grid")
_SCRATCH = ("global_scratch_size", "profile_scratch_size")


@triton.jit
def softmax(y, x, rows, columns, BLOCK: tl.constexpr):  # noqa: N803
    """Softmax of each row; a program takes every row at a distance of the grid."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        values = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(y + row * columns + offsets, powers / tl.sum(powers, axis=0), mask=mask)


@triton.jit
def layer_norm(y, x, weight, bias, mean, scale, columns, epsilon, BLOCK: tl.constexpr):  # noqa: N803
    """Rows of half precision, with their mean and the inverse of their deviation kept."""
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    middle = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
        apart = tl.where(at < columns, value - middle, 0.0)
        squares += apart * apart
    inverse = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    tl.store(mean + row, middle)
    tl.store(scale + row, inverse)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < columns
        value = tl.load(x + row * columns + at, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(weight + at, mask=mask)
        b = tl.load(bias + at, mask=mask)
        tl.store(y + row * columns + at, (value - middle) * inverse * w + b, mask=mask)


@triton.jit
def attention(out, q, k, v, length, factor, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):  # noqa: N803
    """Causal attention of one head in half precision, softmax as it goes along."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    head = tl.program_id(1) * length * D
    inner = tl.arange(0, D)
    mine = tl.load(q + head + rows[:, None] * D + inner[None, :], mask=rows[:, None] < length)
    largest = tl.zeros([M], dtype=tl.float32) - float("inf")
    total = tl.zeros([M], dtype=tl.float32)
    sums = tl.zeros([M, D], dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * M, N):
        columns = start + tl.arange(0, N)
        there = columns < length
        keys = tl.load(
            k + head + columns[None, :] * D + inner[:, None], mask=there[None, :], other=0.0
        )
        scores = tl.dot(mine, keys) * factor
        seen = (rows[:, None] >= columns[None, :]) & there[None, :]
        scores = tl.where(seen, scores, -float("inf"))
        highest = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp2(scores - highest[:, None])
        shrink = tl.exp2(largest - highest)
        total = total * shrink + tl.sum(powers, 1)
        values = tl.load(
            v + head + columns[:, None] * D + inner[None, :], mask=there[:, None], other=0.0
        )
        sums = sums * shrink[:, None] + tl.dot(powers.to(tl.float16), values)
        largest = highest
    result = (sums / total[:, None]).to(tl.float16)
    tl.store(out + head + rows[:, None] * D + inner[None, :], result, mask=rows[:, None] < length)


@triton.jit
def matmul(c, a, b, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, G: tl.constexpr):  # noqa: N803
    """``c = relu(a @ b)``; programs in groups of G rows, tiles fetched ahead."""
    program = tl.program_id(0)
    across = tl.cdiv(n, N)
    group = program // (G * across)
    height = min(tl.cdiv(m, M) - group * G, G)
    row = group * G + program % (G * across) % height
    column = program % (G * across) // height
    rows = (row * M + tl.arange(0, M)) % m
    columns = (column * N + tl.arange(0, N)) % n
    inner = tl.arange(0, K)
    left = a + rows[:, None] * k + inner[None, :]
    right = b + inner[:, None] * n + columns[None, :]
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(tl.cdiv(k, K)):
        x = tl.load(left, mask=inner[None, :] < k - step * K, other=0.0)
        y = tl.load(right, mask=inner[:, None] < k - step * K, other=0.0)
        total = tl.dot(x, y, total)
        left += K
        right += K * n
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], tl.maximum(total, 0.0), mask=mask)


@triton.jit
def matmul_bytes(c, a, b, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):  # noqa: N803
    """One tile: a product of signed bytes; ``b`` by columns."""
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.int32)
    for start in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + start + inner[None, :])
        y = tl.load(b + columns[None, :] * k + start + inner[:, None])
        total += tl.dot(x, y)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def _decay(a, x, b, y):
    """The recurrence ``h = a·h + x``, of two steps together."""
    return a * b, b * x + y


@triton.jit
def recurrence(out, a, x, N: tl.constexpr):  # noqa: N803
    """``h[i] = a[i]·h[i-1] + x[i]`` along rows, by an associative scan."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    _, states = tl.associative_scan((tl.load(a + at), tl.load(x + at)), 0, _decay)
    tl.store(out + at, states)


@triton.jit
def sort_rows(out, x, N: tl.constexpr):  # noqa: N803
    """Each row in descending order."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    values = tl.load(x + at)
    tl.store(out + at, tl.sort(values, descending=True))


@triton.jit
def histogram(bins, largest, x, n, N: tl.constexpr, BINS: tl.constexpr):  # noqa: N803
    """Counts of small integers, added up by atomics; and the place of the largest of each block."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    mask = at < n
    values = tl.load(x + at, mask=mask, other=0)
    counts = tl.histogram(values, BINS, mask=mask)
    tl.atomic_add(bins + tl.arange(0, BINS), counts)
    place = tl.argmax(tl.where(mask, values, -1), axis=0)
    tl.store(largest + tl.program_id(0), tl.program_id(0) * N + place)


@triton.jit
def dropout(out, x, seed, share, n, N: tl.constexpr):  # noqa: N803
    """Random zeros by Philox; what is left grows as much."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    mask = at < n
    kept = tl.rand(seed, at) > share
    value = tl.load(x + at, mask=mask)
    tl.store(out + at, tl.where(kept, value / (1 - share), 0.0), mask=mask)


KERNELS = {
    "softmax": (softmax, "*fp32 *fp32 i32 i32", {"BLOCK": 256}, {"num_warps": 4}),
    "layer_norm": (
        layer_norm,
        "*fp16 *fp16 *fp32 *fp32 *fp32 *fp32 i32 fp32",
        {"BLOCK": 256},
        {"num_warps": 2},
    ),
    "attention": (
        attention,
        "*fp16 *fp16 *fp16 *fp16 i32 fp32",
        {"M": 32, "N": 32, "D": 32},
        {"num_warps": 2, "num_stages": 2},
    ),
    "matmul": (
        matmul,
        "*fp32 *bf16 *bf16 i32 i32 i32",
        {"M": 32, "N": 32, "K": 32, "G": 2},
        {"num_warps": 4, "num_stages": 3},
    ),
    "matmul_bytes": (
        matmul_bytes,
        "*i32 *i8 *i8 i32",
        {"M": 32, "N": 32, "K": 32},
        {"num_warps": 2},
    ),
    "recurrence": (recurrence, "*fp32 *fp32 *fp32", {"N": 256}, {"num_warps": 2}),
    "sort_rows": (sort_rows, "*i32 *i32", {"N": 128}, {"num_warps": 1}),
    "histogram": (histogram, "*i32 *i32 *i32 i32", {"N": 256, "BINS": 32}, {"num_warps": 2}),
    "dropout": (dropout, "*fp32 *fp32 i32 fp32 i32", {"N": 256}, {"num_warps": 2}),
}
"""Function, types of the arguments, constants, options."""

ALIGNED = ("attention", "matmul", "matmul_bytes")
"""Told that addresses and sizes are multiples of 16, and so fetched by ``cp.async``."""


def compile_kernel(name: str, folder: Path) -> None:
    """Write ``name.ptx`` and ``name.json``."""
    function, types, constants, options = KERNELS[name]
    signature = dict(zip(function.arg_names, types.split(), strict=False))
    signature |= dict.fromkeys(constants, "constexpr")
    places = {(function.arg_names.index(each),): value for each, value in constants.items()}
    whole = [index for index, kind in enumerate(types.split()) if kind != "fp32"]
    aligned = {(index,): [["tt.divisibility", 16]] for index in whole if name in ALIGNED}
    source = ASTSource(fn=function, signature=signature, constexprs=places, attrs=aligned)
    compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32), options=options)
    text = compiled.asm["ptx"].partition("\t.section\t.debug")[0]
    text = re.sub(r"^\.version .*$", ".version 8.0", text, count=1, flags=re.MULTILINE)
    (folder / f"{name}.ptx").write_text(text.rstrip() + "\n")
    told = compiled.metadata._asdict()
    launch = {key: told[key] for key in (*_LAUNCH, *_SCRATCH)}
    (folder / f"{name}.json").write_text(json.dumps(launch, indent=1) + "\n")


def main() -> int:
    """Compile what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(KERNELS)}; default: all")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.name or KERNELS:
        compile_kernel(name, options.folder)
        print(options.folder / f"{name}.ptx")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
