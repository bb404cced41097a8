"""The headers ``<cstdint>``, ``<climits>``, ``<cfloat>`` and ``<cstddef>`` for NVRTC.

They include libcu++'s where that is installed, because its other headers do so. NVRTC may be
installed without it, for instance with PyTorch's wheels; then these headers define everything.
"""

from __future__ import annotations

_INTEGERS = {8: "char", 16: "short", 32: "int", 64: "long long"}  # libcu++'s choices for NVRTC

_LIMITS = {
    "CHAR_BIT": "8", "SCHAR_MIN": "(-128)", "SCHAR_MAX": "127", "UCHAR_MAX": "255",
    "CHAR_MIN": "SCHAR_MIN", "CHAR_MAX": "SCHAR_MAX",
    "SHRT_MIN": "(-32768)", "SHRT_MAX": "32767", "USHRT_MAX": "65535",
    "INT_MIN": "(-2147483647 - 1)", "INT_MAX": "2147483647", "UINT_MAX": "4294967295U",
    "LONG_MIN": "(-9223372036854775807L - 1)", "LONG_MAX": "9223372036854775807L",
    "ULONG_MAX": "18446744073709551615UL",
    "LLONG_MIN": "(-9223372036854775807LL - 1)", "LLONG_MAX": "9223372036854775807LL",
    "ULLONG_MAX": "18446744073709551615ULL",
}  # fmt: skip

_FLOATS = {
    "FLT_RADIX": "2", "FLT_ROUNDS": "1",
    "FLT_MANT_DIG": "24", "FLT_DIG": "6", "FLT_DECIMAL_DIG": "9",
    "FLT_MIN_EXP": "(-125)", "FLT_MAX_EXP": "128",
    "FLT_MIN_10_EXP": "(-37)", "FLT_MAX_10_EXP": "38",
    "FLT_MIN": "1.17549435e-38f", "FLT_MAX": "3.40282347e+38f", "FLT_EPSILON": "1.19209290e-7f",
    "FLT_TRUE_MIN": "1.40129846e-45f",
    "DBL_MANT_DIG": "53", "DBL_DIG": "15", "DBL_DECIMAL_DIG": "17",
    "DBL_MIN_EXP": "(-1021)", "DBL_MAX_EXP": "1024",
    "DBL_MIN_10_EXP": "(-307)", "DBL_MAX_10_EXP": "308",
    "DBL_MIN": "2.2250738585072014e-308", "DBL_MAX": "1.7976931348623157e+308",
    "DBL_EPSILON": "2.2204460492503131e-16", "DBL_TRUE_MIN": "4.9406564584124654e-324",
}  # fmt: skip

_OFFSETOF = """\
#ifndef offsetof
#if __has_builtin(__builtin_offsetof)  // since NVRTC 13
#define offsetof(type, member) __builtin_offsetof(type, member)
#else
#define offsetof(type, member) ((size_t)__INTADDR__(&((type*)0)->member))
#endif
#endif
"""
_BYTE = (
    "namespace std { enum class byte : unsigned char {}; using nullptr_t = decltype(nullptr); }\n"
)


def _types() -> dict[str, str]:
    found: dict[str, str] = {}
    for bits, name in _INTEGERS.items():
        for kind in ("", "_least", "_fast"):
            found[f"int{kind}{bits}_t"] = f"signed {name}"
            found[f"uint{kind}{bits}_t"] = f"unsigned {name}"
    for kind in ("ptr", "max"):
        found[f"int{kind}_t"] = "signed long long"
        found[f"uint{kind}_t"] = "unsigned long long"
    return found


def _integers() -> str:
    ends = {"SIZE_MAX": "UINT64_MAX"}
    for bits, name in _INTEGERS.items():
        word = {"char": "CHAR", "short": "SHRT", "int": "INT", "long long": "LLONG"}[name]
        signed = "SCHAR" if word == "CHAR" else word
        ends |= {f"INT{bits}_MIN": f"{signed}_MIN", f"INT{bits}_MAX": f"{signed}_MAX"}
        ends[f"UINT{bits}_MAX"] = f"U{word}_MAX"
    types = _types()
    return (
        defined(_LIMITS | ends)
        + "".join(f"typedef {meaning} {name};\n" for name, meaning in types.items())
        + f"namespace std {{ {' '.join(f'using ::{name};' for name in types)} }}\n"
    )


def defined(macros: dict[str, str]) -> str:
    """Return definitions of the macros that are not yet defined."""
    return "".join(f"#ifndef {n}\n#define {n} {value}\n#endif\n" for n, value in macros.items())


def libcu_or(name: str, text: str) -> str:
    """Return a header that includes libcu++'s if it exists, and otherwise contains a text."""
    file = f"<cuda/std/{name}>"
    return (
        f"#if __has_include({file})\n#include {file}\n"
        "namespace cuda { namespace std {} }\n"  # not all headers declare it
        f"namespace std {{ using namespace cuda::std; }}\n#else\n{text}#endif\n"
    )


INTEGERS = libcu_or("cstdint", _integers())
LIMITS = libcu_or("climits", defined(_LIMITS))
FLOATS = libcu_or("cfloat", "") + defined(_FLOATS)  # CUDA 12's is empty
DEFINITIONS = libcu_or("cstddef", _BYTE + _OFFSETOF)
