"""The headers ``<cmath>`` and ``<complex>`` for NVRTC.

NVRTC's built-in functions are ``::sqrt`` and so on, for floats and doubles. In ``std`` each is a
template here, which converts integers to double: [cmath.syn] of the C++ standard. So a plain
``sqrt`` is still the built-in one after ``using namespace std``, unlike with libcu++'s header,
which also takes 1.5 s to parse.
"""

from __future__ import annotations

from collections.abc import Iterable

_UNARY = (
    "fabs", "exp", "exp2", "expm1", "log", "log10", "log2", "log1p", "sqrt", "cbrt", "sin",
    "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "erf", "erfc", "tgamma", "lgamma", "ceil", "floor", "trunc", "round", "nearbyint", "rint",
    "logb",
)  # fmt: skip
_BINARY = (
    "fmod", "remainder", "fmax", "fmin", "fdim", "pow", "hypot", "atan2", "nextafter",
    "copysign",
)  # fmt: skip
_TO_OTHER = {
    "lround": "long", "llround": "long long", "lrint": "long", "llrint": "long long",
    "ilogb": "int", "isfinite": "bool", "isinf": "bool", "isnan": "bool", "signbit": "bool",
}  # fmt: skip
_COMPARED = {
    "isgreater": "a > b", "isgreaterequal": "a >= b", "isless": "a < b", "islessequal": "a <= b",
    "islessgreater": "a < b || a > b", "isunordered": "a != a || b != b",
}  # fmt: skip
_OF_FLOATS = [
    *_UNARY, *_BINARY, "lround", "llround", "lrint", "llrint", "ilogb", "fma", "frexp", "ldexp",
    "modf", "scalbn", "scalbln", "remquo",
]  # fmt: skip
_OF_COMPLEX = (
    "abs", "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh",
)  # fmt: skip

_DOUBLES = (
    "double", "long double", "bool", "char", "signed char", "unsigned char", "short",
    "unsigned short", "int", "unsigned", "long", "unsigned long", "long long", "unsigned long long",
)  # fmt: skip

_TRAITS = """\
template <class T> struct __real {};
template <> struct __real<float> { using type = float; };
template <class T> using __real_t = typename __real<T>::type;
template <class A, class B, class = __real_t<A>, class = __real_t<B>>
struct __reals { using type = double; };
template <> struct __reals<float, float, float, float> { using type = float; };
template <class A, class B> using __reals_t = typename __reals<A, B>::type;
template <class A, class B, class C> using __3_reals_t = __reals_t<__reals_t<A, B>, C>;
"""

_UNLIKE_OTHERS = """\
template <class T> __host__ __device__ auto abs(T a) -> decltype(::abs(a)) { return ::abs(a); }
template <class A, class B, class C> __host__ __device__ __3_reals_t<A, B, C> fma(A a, B b, C c)
{ using T = __3_reals_t<A, B, C>; return ::fma(T(a), T(b), T(c)); }
template <class T> __host__ __device__ __real_t<T> frexp(T a, int* e)
{ return ::frexp(__real_t<T>(a), e); }
template <class T> __host__ __device__ __real_t<T> ldexp(T a, int e)
{ return ::ldexp(__real_t<T>(a), e); }
template <class T> __host__ __device__ __real_t<T> scalbn(T a, int e)
{ return ::scalbn(__real_t<T>(a), e); }
template <class T> __host__ __device__ __real_t<T> scalbln(T a, long e)
{ return ::scalbln(__real_t<T>(a), e); }
template <class T> __host__ __device__ __real_t<T> modf(T a, T* whole) { return ::modf(a, whole); }
template <class A, class B> __host__ __device__ __reals_t<A, B> remquo(A a, B b, int* q)
{ using T = __reals_t<A, B>; return ::remquo(T(a), T(b), q); }
using float_t = float;
using double_t = double;
"""


def _once(name: str, text: str) -> str:
    return f"#ifndef {name}\n#define {name}\n{text}#endif\n"


def _in_std(lines: Iterable[str]) -> str:
    return "namespace std {\n" + "\n".join(lines) + "\n}\n"


def _as_double(name: str) -> str:
    return f"template <> struct __real<{name}> {{ using type = double; }};"


def _unary(name: str, result: str) -> str:
    head = f"template <class T> __host__ __device__ {result} {name}(T a)"
    return f"{head} {{ return ::{name}(__real_t<T>(a)); }}"


def _binary(name: str) -> str:
    head = f"template <class A, class B> __host__ __device__ __reals_t<A, B> {name}(A a, B b)"
    return f"{head} {{ using T = __reals_t<A, B>; return ::{name}(T(a), T(b)); }}"


def _compared(name: str, how: str) -> str:
    head = f"template <class A, class B> __host__ __device__ bool {name}(A x, B y)"
    return f"{head} {{ __reals_t<A, B> a = x, b = y; return {how}; }}"


MATH = _once(
    "__CUDARUN_CMATH",
    _in_std(
        [
            _TRAITS,
            *map(_as_double, _DOUBLES),
            *(_unary(name, "__real_t<T>") for name in _UNARY),
            *(_unary(name, result) for name, result in _TO_OTHER.items()),
            *map(_binary, _BINARY),
            *(_compared(name, how) for name, how in _COMPARED.items()),
            _UNLIKE_OTHERS,
            *(f"using ::{name}f;" for name in _OF_FLOATS),
        ]
    ),
)


def _complex(name: str, parameters: str, arguments: str) -> str:
    call = f"cuda::std::{name}({arguments})"
    head = f"template <class T, class U = T> __host__ __device__ auto {name}({parameters})"
    return f"{head} -> decltype({call}) {{ return {call}; }}"


COMPLEX = _once(
    "__CUDARUN_COMPLEX",
    "#include <cmath>\n"
    "#undef INFINITY\n#undef NAN\n"  # libcu++ defines these differently
    "#include <cuda/std/complex>\n"
    "namespace std { using namespace cuda::std; }\n"
    + _in_std(
        [
            *(_complex(name, "const cuda::std::complex<T>& z", "z") for name in _OF_COMPLEX),
            _complex("pow", "const cuda::std::complex<T>& z, const U& w", "z, w"),
            _complex("pow", "const T& z, const cuda::std::complex<U>& w", "z, w"),
            _complex(
                "pow", "const cuda::std::complex<T>& z, const cuda::std::complex<U>& w", "z, w"
            ),
        ]
    ),
)
"""The header ``<complex>``: libcu++'s, with its functions beside the templates for numbers."""
