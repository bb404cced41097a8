# ruff: noqa: N803 - sizes are upper-case where Triton is written
"""The Triton kernels whose PTX lies beside this: what Triton 3.9 gave for sm_80, without a GPU.

Their debug sections have been cut off. Run it where Triton is installed to write them again.
"""

from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(o, x, stride, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < n
    v = tl.load(x + r * stride + c, mask=m, other=-float("inf"))
    v = v - tl.max(v, 0)
    e = tl.exp(v)
    tl.store(o + r * stride + c, e / tl.sum(e, 0), mask=m)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        am = (rm[:, None] < M) & ((k + rk)[None, :] < K)
        bm = ((k + rk)[:, None] < K) & (rn[None, :] < N)
        av = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=am, other=0.0)
        bv = tl.load(b + (k + rk)[:, None] * N + rn[None, :], mask=bm, other=0.0)
        acc += tl.dot(av, bv)
    cm = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=cm)


@triton.jit
def scan(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m, other=0.0)
    tl.atomic_add(o, tl.sum(v, 0))
    tl.atomic_max(o + 1, tl.max(v, 0))
    tl.store(o + 16 + i, tl.cumsum(v, 0), mask=m)


KERNELS = [
    (softmax, {"o": "*fp32", "x": "*fp32", "stride": "i32", "n": "i32"}, {"B": 1024}),
    (
        matmul,
        {"a": "*bf16", "b": "*bf16", "c": "*bf16", "M": "i32", "N": "i32", "K": "i32"},
        {"BM": 32, "BN": 32, "BK": 32},
    ),
    (scan, {"x": "*fp32", "o": "*fp32", "n": "i32"}, {"B": 512}),
]

for kernel, types, constants in KERNELS:
    signature = types | dict.fromkeys(constants, "constexpr")
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs={})
    compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4})
    text = compiled.asm["ptx"].partition("\t.section\t.debug")[0]
    text = text.replace(f"{Path(__file__).parent}/", "")
    text = "\n".join(line for line in text.splitlines() if "site-packages" not in line)
    Path(__file__).with_name(f"{kernel.__name__}.ptx").write_text(text.rstrip() + "\n")
    print(kernel.__name__, compiled.metadata.shared)
