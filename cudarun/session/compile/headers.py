"""Headers of the C and C++ standard libraries for NVRTC, which has none.

Kernels are written for nvcc, which has the host compiler's headers, and most files start with
``#include <cstdio>`` or ``<cstdint>``. The device part of such a header is either built into NVRTC
(``printf``, ``assert``, ``memcpy``, ``malloc``) or in libcu++, CUDA's own standard library, as
``cuda::std``. Each header here refers to these. Host-only headers (``<vector>``, ``<iostream>``)
are missing, because their contents cannot run on the device.

The headers are passed to ``nvrtcCreateProgram``, https://docs.nvidia.com/cuda/nvrtc, "Basic Usage".
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cudarun.session.compile.math_header import COMPLEX, MATH
from cudarun.session.compile.number_headers import (
    DEFINITIONS,
    FLOATS,
    INTEGERS,
    LIMITS,
    defined,
    libcu_or,
)

# Any header of libstdc++ includes these two.
_SIZES = "namespace std { using ::size_t; using ::ptrdiff_t; }\n"

_STD = "namespace std { using namespace cuda::std; }\n" + _SIZES

_NAMED_FOR_STD = "namespace std { %s }\n" + _SIZES

# glibc's math.h has these in every language mode that compilers select by default.
_CONSTANTS = {
    "M_E": "2.7182818284590452354",
    "M_LOG2E": "1.4426950408889634074",
    "M_LOG10E": "0.43429448190325182765",
    "M_LN2": "0.69314718055994530942",
    "M_LN10": "2.30258509299404568402",
    "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923",
    "M_PI_4": "0.78539816339744830962",
    "M_1_PI": "0.31830988618379067154",
    "M_2_PI": "0.63661977236758134308",
    "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.70710678118654752440",
}
_INFINITIES = {"INFINITY": "__int_as_float(0x7f800000)", "NAN": "__int_as_float(0x7fffffff)"}


def _libcu(name: str) -> str:
    return f"#include <cuda/std/{name}>\n"


# CUDA 12 has it, but without a separate header.
_ALGORITHM = (
    "#if __has_include(<cuda/std/detail/libcxx/include/algorithm>)\n"
    "#include <cuda/std/detail/libcxx/include/algorithm>\n"
    f"#else\n{_libcu('algorithm')}#endif\n"
)

_HEADERS = {
    # C headers: names are in the global namespace
    "assert.h": "",
    "float.h": FLOATS,
    "limits.h": LIMITS,
    # Not libcu++'s <cmath>: it takes seconds to parse, and the functions are built in.
    "math.h": defined(_CONSTANTS | _INFINITIES),
    "stddef.h": DEFINITIONS,
    "stdint.h": INTEGERS,
    "stdio.h": "",
    "stdlib.h": "",
    "string.h": "",
    # C++ headers: names are in std, too
    "cassert": _SIZES,
    "cfloat": FLOATS + _SIZES,
    "climits": LIMITS + _SIZES,
    "cmath": _SIZES + MATH + defined(_CONSTANTS | _INFINITIES),
    "cstddef": DEFINITIONS + _SIZES,
    "cstdint": INTEGERS + _SIZES,
    "cstdio": _NAMED_FOR_STD % "using ::printf;",
    "cstdlib": _NAMED_FOR_STD % "using ::malloc; using ::free; using ::abs;",
    "cstring": libcu_or("cstring", _NAMED_FOR_STD % "using ::memcpy; using ::memset;") + _SIZES,
    "complex": _SIZES + COMPLEX,
    "algorithm": _ALGORITHM + _STD,
    **{
        name: _libcu(name) + _STD
        for name in (
            "array", "bit", "functional", "initializer_list", "limits",
            "numeric", "optional", "span", "tuple", "type_traits", "utility", "variant",
        )
    },
}  # fmt: skip


def standard_headers(folders: Iterable[str]) -> dict[str, str]:
    """Return the name and text of each header that none of the folders has.

    Args:
        folders: The folders that NVRTC searches; a header in one of them takes precedence.
    """
    paths = [Path(folder) for folder in folders]
    return {
        name: text
        for name, text in _HEADERS.items()
        if not any((path / name).is_file() for path in paths)
    }
