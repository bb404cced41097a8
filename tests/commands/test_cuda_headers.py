"""Headers of the C and C++ standard libraries in CUDA source, which NVRTC has none of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands.test_cuda_source import ONE, write
from tests.support.toolkit import needs_nvrtc

if TYPE_CHECKING:
    from conftest import Run

pytestmark = needs_nvrtc


@pytest.mark.parametrize(
    ("include", "does"),
    [
        ("<cstdio>", 'std::printf("%u", x[0]);'),
        ("<stdio.h>", 'printf("%u", x[0]);'),
        ("<cassert>", "assert(x);"),
        ("<assert.h>", "assert(x);"),
        ("<cstdint>", "std::uint32_t y = 7; uint8_t z = 0; x[0] = y + z;"),
        ("<stdint.h>", "uint32_t y = UINT32_MAX; x[0] = y - UINT32_MAX + 7;"),
        ("<cstddef>", "std::size_t y = offsetof(uint4, y); x[0] = y + 3;"),
        ("<stddef.h>", "ptrdiff_t y = 7; x[0] = y;"),
        ("<climits>", "x[0] = INT_MAX - (INT_MAX - 7);"),
        ("<limits.h>", "x[0] = CHAR_BIT - 1;"),
        ("<cfloat>", "x[0] = FLT_MAX > 0 ? 7 : 0;"),
        ("<float.h>", "x[0] = FLT_RADIX + 5;"),
        ("<cmath>", "x[0] = std::sqrt(49.f) * (M_PI > 3);"),
        ("<math.h>", "x[0] = sqrtf(49.f) * (M_PI > 3) * (INFINITY > NAN ? 0 : 1);"),
        ("<cstdlib>", "std::free(std::malloc(8)); x[0] = std::abs(-7);"),
        ("<stdlib.h>", "free(malloc(8)); x[0] = abs(-7);"),
        ("<cstring>", "unsigned y = 7; std::memcpy(x, &y, 4);"),
        ("<string.h>", "unsigned y = 7; memcpy(x, &y, 4);"),
        ("<algorithm>", "x[0] = std::max(3, 7);"),
        ("<limits>", "x[0] = std::numeric_limits<unsigned char>::max() - 248;"),
        ("<utility>", "int y = 7; int z = 0; std::swap(y, z); x[0] = z;"),
        ("<array>", "std::array<int, 2> y = {3, 7}; x[0] = y[1];"),
        ("<cstdio>", "std::size_t y = 7; x[0] = y;"),
        ("<cstdint>", "std::ptrdiff_t y = 7; x[0] = y;"),
    ],
)
def test_standard_headers(run: Run, tmp_path: Path, include: str, does: str) -> None:
    text = f"#include {include}\n__global__ void k(unsigned *x) {{ {does} }}\n"
    ran = run("launch", write(tmp_path, text), *ONE, "x=u32[1]:[7]", "--check", "x == 7")
    assert ran.code == 0, ran.err


MATH = r"""
#include <cmath>
#include <complex>
#include <cmath>
#include <complex>
__global__ void k(double* y, float two, int n) {
    static_assert(sizeof(std::sqrt(two)) == 4 && sizeof(std::pow(two, n)) == 8);
    static_assert(sizeof(std::fmax(two, 1.0)) == 8 && sizeof(std::abs((short) 1)) == 4);
    float whole;
    int e, q;
    std::complex<float> z(3, 4);
    y[0] = std::sqrt(n) + std::sqrtf(two * two);          // 3 + 2
    y[1] = std::pow(two, n) + std::pow(n, 2);             // 512 + 81
    y[2] = std::frexp(two, &e);                           // 0.5 and 2
    y[2] += e;
    y[3] = std::modf(2.5f, &whole);                       // 0.5 and 20
    y[3] += whole * 10;
    y[4] = std::isless(1, 2.5) + std::isunordered(NAN, 1.0) + std::isinf(INFINITY);  // 3
    y[5] = std::lround(2.6f) + std::hypot(3, 4.0f) + std::fma(two, n, 1);            // 3 + 5 + 19
    y[6] = std::remquo(7.0, two, &q);                     // -1 and 4
    y[6] += q;
    y[7] = std::abs(z) + std::pow(z, 2).real() + std::sqrt(z).imag();                // 5 - 7 + 1
}
"""


def test_functions_of_cmath_and_complex(run: Run, tmp_path: Path) -> None:
    command = ("launch", write(tmp_path, MATH), *ONE, "y=f64[8]", "two=2", "n=9")
    ran = run(*command, "--check", "y == [5, 593, 2.5, 20.5, 3, 27, 3, -1]")
    assert ran.code == 0, ran.err + ran.out


def test_built_in_functions_after_using_namespace_std(run: Run, tmp_path: Path) -> None:
    text = """
        #include <cmath>
        using namespace std;
        __global__ void k(float* x, int n) { x[0] = sqrtf(x[0]) + sqrt(x[1]) + sqrt(n) + abs(-n); }
    """
    args = ("x=f32[2]:[4, 16]", "n=9", "--check", "x[0] == 18")
    ran = run("launch", write(tmp_path, text), *ONE, *args)
    assert ran.code == 0, ran.err


def test_a_standard_header_of_the_users_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    write(tmp_path / "mine", "#define MINE 7\n", "cstdio")
    text = "#include <cstdio>\n__global__ void k(int *x) { *x = MINE; }\n"
    args = ("launch", write(tmp_path, text), *ONE, "x=i32[1]", "--check", "x == 7")
    assert run(*args, "-I", "mine").code == 0
    assert run(*args).code == 4


def test_macros_of_math_need_no_include_as_with_nvcc(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        'extern "C" __global__ void k(double* y) { y[0] = -INFINITY; y[1] = NAN; y[2] = M_PI; }\n'
    )
    ran = run("launch", "k.cu", "-d", "cpu", "--threads", "1", "y=f64[3]", "--print", "y")
    assert (ran.code, ran.out.splitlines()[-1].split()[2:4]) == (0, ["[", "-inf"])
