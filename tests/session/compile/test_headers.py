"""The headers that NVRTC is given, where libcu++ is not installed."""

from __future__ import annotations

import pytest
from cuda.bindings import nvrtc

from cudarun.session.compile.nvrtc import standard_headers

TYPES = """
#include <cstdint>
#include <stdint.h>
#include <cstddef>
#include <stddef.h>
using std::int64_t;
static_assert(sizeof(std::int64_t) == 8 && sizeof(uint_least16_t) == 2 && sizeof(intptr_t) == 8);
static_assert(INT64_MIN < 0 && UINT64_MAX > 0 && INT8_MIN == -128 && UINT16_MAX == 65535);
static_assert(SIZE_MAX == UINT64_MAX && sizeof(std::byte) == 1 && sizeof(std::nullptr_t) == 8);
struct Pair { int a; double b; };
static_assert(offsetof(Pair, b) == 8);
"""
LIMITS = """
#include <climits>
#include <cfloat>
#include <limits.h>
#include <float.h>
static_assert(INT_MIN == -2147483648LL && UCHAR_MAX == 255 && LONG_MAX == LLONG_MAX);
static_assert(CHAR_MIN < 0 && ULLONG_MAX + 1 == 0 && SHRT_MIN == -SHRT_MAX - 1);
static_assert(FLT_MAX * 2.0 > FLT_MAX && 1.0f + FLT_EPSILON > 1.0f && DBL_DIG == 15);
static_assert(1.0 + DBL_EPSILON / 2 == 1.0 && DBL_MIN / 2 >= DBL_TRUE_MIN && FLT_MIN > 0);
"""
FUNCTIONS = """
#include <cstring>
#include <cstdio>
#include <cmath>
#include <cstdlib>
#include <cassert>
__global__ void k(double* x, std::size_t n) {
    std::memcpy(x, &n, 8);
    x[1] = std::sqrt(2) + std::abs(-3);
    std::printf("%f", x[1]);
    assert(std::isfinite(x[1]));
}
"""


@pytest.mark.parametrize("text", [TYPES, LIMITS, FUNCTIONS])
def test_without_libcu(text: str) -> None:
    headers = standard_headers([])
    names = [name.encode() for name in headers]
    texts = [header.encode() for header in headers.values()]
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"x.cu", len(names), texts, names)
    options = [b"--gpu-architecture=compute_75", b"--std=c++17"]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytearray(size)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert int(result) == 0, log.decode()
