"""Triton kernels for sm_90; one per call: python tri.py NAME."""

import sys

import torch
import triton
import triton.language as tl

torch.manual_seed(0)
d = "cuda"


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < n
    v = tl.load(x + r * n + c, m, -float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * n + c, v / tl.sum(v, 0), m)


@triton.jit
def layer_norm(x, w, b, y, n, eps, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < n
    v = tl.load(x + r * n + c, m, 0.0).to(tl.float32)
    mu = tl.sum(v, 0) / n
    e = tl.where(m, v - mu, 0.0)
    s = 1 / tl.sqrt(tl.sum(e * e, 0) / n + eps)
    tl.store(y + r * n + c, e * s * tl.load(w + c, m, 0.0) + tl.load(b + c, m, 0.0), m)


@triton.jit
def matmul(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, DT: tl.constexpr
):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for s in range(0, K, BK):
        acc = tl.dot(
            tl.load(a + i[:, None] * K + (s + k)[None, :]),
            tl.load(b + (s + k)[:, None] * N + j[None, :]),
            acc,
        )
    tl.store(c + i[:, None] * N + j[None, :], acc.to(DT))


@triton.jit
def matmul_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    A = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    B = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    C = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(A.load([m, k]), B.load([n, k]).T, acc)
    C.store([m, n], acc.to(tl.float16))


@triton.jit
def matmul_host_tma(A, B, C, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(A.load([m, k]), B.load([n, k]).T, acc)
    C.store([m, n], acc.to(tl.float16))


@triton.jit
def attention(
    q, k, v, o, S, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr
):
    h = tl.program_id(1) * S * D
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    e = tl.arange(0, D)
    n = tl.arange(0, BN)
    Q = tl.load(q + h + i[:, None] * D + e[None, :])
    m = tl.full((BM,), -float("inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for s in range(0, S, BN):
        K = tl.load(k + h + (s + n)[None, :] * D + e[:, None])
        p = tl.dot(Q, K) * scale
        if CAUSAL:
            p = tl.where(i[:, None] >= (s + n)[None, :], p, -1e30)
        new = tl.maximum(m, tl.max(p, 1))
        p = tl.exp2(p - new[:, None])
        f = tl.exp2(m - new)
        l = l * f + tl.sum(p, 1)
        acc = acc * f[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(v + h + (s + n)[:, None] * D + e[None, :]), acc)
        m = new
    tl.store(o + h + i[:, None] * D + e[None, :], (acc / l[:, None]).to(tl.float16))


@triton.jit
def dropout(x, y, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    r = tl.rand(seed, i)
    tl.store(y + i, tl.where(r > p, tl.load(x + i, m) / (1 - p), 0.0), m)


@triton.jit
def scans(x, y, z, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(y + i, tl.cumsum(v, 0))
    tl.store(z + i, tl.sort(v))


@triton.jit
def histogram(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(y + tl.arange(0, 64), tl.histogram(tl.load(x + i) & 63, 64))


@triton.jit
def quantize(x, y, s, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    a = tl.max(tl.abs(v), 0)
    tl.store(s + tl.program_id(0), a / 448)
    tl.store(y + i, (v / (a / 448)).to(tl.float8e4nv))


def r(*s, t=torch.float16):
    return torch.randn(*s, device=d).to(t)


name = sys.argv[1]
if name == "softmax":
    softmax[(8,)](r(8, 300, t=torch.float32), torch.empty(8, 300, device=d), 300, 512)
elif name == "layer_norm":
    layer_norm[(8,)](r(8, 500), r(500), r(500), r(8, 500), 500, 1e-5, 512)
elif name == "matmul_f16":
    matmul[(2, 2)](
        r(128, 128), r(128, 128), r(128, 128), 128, 128, 128, 64, 64, 32, tl.float16, num_warps=4
    )
elif name == "matmul_f16_wide":
    matmul[(1, 1)](
        r(128, 256),
        r(256, 128),
        r(128, 128),
        128,
        128,
        256,
        128,
        128,
        64,
        tl.float16,
        num_warps=8,
        num_stages=3,
    )
elif name == "matmul_tf32":
    matmul[(2, 2)](
        r(128, 64, t=torch.float32),
        r(64, 128, t=torch.float32),
        r(128, 128, t=torch.float32),
        128,
        128,
        64,
        64,
        64,
        32,
        tl.float32,
    )
elif name == "matmul_bf16":
    matmul[(2, 2)](
        r(128, 128, t=torch.bfloat16),
        r(128, 128, t=torch.bfloat16),
        r(128, 128, t=torch.bfloat16),
        128,
        128,
        128,
        64,
        64,
        64,
        tl.bfloat16,
    )
elif name == "matmul_fp8":
    matmul[(1, 1)](
        r(128, 128).to(torch.float8_e4m3fn),
        r(128, 128).to(torch.float8_e4m3fn),
        r(128, 128),
        128,
        128,
        128,
        128,
        128,
        64,
        tl.float16,
        num_warps=4,
    )
elif name == "matmul_int8":
    matmul[(1, 1)](
        torch.randint(-99, 99, (64, 128), device=d, dtype=torch.int8).to(torch.float16),
        r(128, 64),
        r(64, 64),
        64,
        64,
        128,
        64,
        64,
        128,
        tl.float16,
    )
elif name == "matmul_tma":
    triton.set_allocator(lambda n, a, s: torch.empty(n, device=d, dtype=torch.int8))
    matmul_tma[(2, 2)](r(128, 128), r(128, 128), r(128, 128), 128, 128, 128, 64, 64, 64)
elif name == "matmul_host_tma":
    from triton.tools.tensor_descriptor import TensorDescriptor as T

    f = lambda t, b: T.from_tensor(t, b)
    matmul_host_tma[(2, 2)](
        f(r(128, 128), [64, 64]),
        f(r(128, 128), [64, 64]),
        f(r(128, 128), [64, 64]),
        128,
        64,
        64,
        64,
    )
elif name == "attention":
    attention[(2, 2)](
        r(2, 128, 64), r(2, 128, 64), r(2, 128, 64), r(2, 128, 64), 128, 0.18, 64, 64, 64, False
    )
elif name == "attention_causal":
    attention[(1, 2)](
        r(2, 128, 64),
        r(2, 128, 64),
        r(2, 128, 64),
        r(2, 128, 64),
        128,
        0.18,
        64,
        128,
        64,
        True,
        num_warps=8,
    )
elif name == "dropout":
    dropout[(4,)](r(1000, t=torch.float32), r(1000, t=torch.float32), 1000, 0.3, 42, 256)
elif name == "scans":
    scans[(2,)](
        torch.randint(0, 999, (512,), device=d, dtype=torch.int32),
        torch.empty(512, device=d, dtype=torch.int32),
        torch.empty(512, device=d, dtype=torch.int32),
        256,
    )
elif name == "histogram":
    histogram[(2,)](
        torch.randint(0, 999, (512,), device=d, dtype=torch.int32),
        torch.zeros(64, device=d, dtype=torch.int32),
        256,
    )
elif name == "quantize":
    quantize[(2,)](
        r(512, t=torch.float32),
        torch.empty(512, device=d, dtype=torch.float8_e4m3fn),
        torch.empty(2, device=d),
        256,
    )
torch.cuda.synchronize()
print("done", name)
