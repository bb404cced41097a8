"""Names and types of parameters from declarations in CUDA source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cudarun.images.facts import ImageFacts, KernelFacts
from cudarun.images.kinds import ImageKind
from cudarun.images.parameters import Parameter
from cudarun.session.compile.declarations import declarations, with_declarations
from cudarun.session.compile.source_texts import read_texts


def found(text: str, *defines: str) -> dict[str, list[tuple[str | None, str | None]]]:
    """The types and names of each kernel's parameters."""
    return {
        each.kernel: [(parameter.type, parameter.name) for parameter in each.parameters]
        for each in declarations([text], defines)
    }


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("", []),
        ("void", []),
        ("float a, const float *x", [("float", "a"), ("const float*", "x")]),
        ("float const *__restrict__ x", [("float const*", "x")]),
        ("unsigned long long int n", [("unsigned long long int", "n")]),
        ("const unsigned n, unsigned", [("const unsigned", "n"), ("unsigned", None)]),
        ("float *, const Params", [("float*", None), ("const Params", None)]),
        ("float x[], int y[2][3]", [("float*", "x"), ("int*", "y")]),
        ("float **rows", [("float**", "rows")]),
        ("std::size_t n, ::std::uint32_t *p", [("size_t", "n"), ("uint32_t*", "p")]),
        ("cuda::std::byte *b", [("cuda::std::byte*", "b")]),
        ("struct S s, enum ns::Mode m", [("S", "s"), ("ns::Mode", "m")]),
        ("ns::Array<float, 3> a, int n", [("ns::Array<float, 3>", "a"), ("int", "n")]),
        ("const __grid_constant__ Params p", [("const Params", "p")]),
        ("[[maybe_unused]] int n = (3 < 4) + f(1, 2), int m", [("int", "n"), ("int", "m")]),
        ("int n /* , int m */ // )\n, float x", [("int", "n"), ("float", "x")]),
        ("int n = 1'000, char c = 'x', float x", [("int", "n"), ("char", "c"), ("float", "x")]),
        ("unsigned __int128, __int128 n", [("unsigned __int128", None), ("__int128", "n")]),
        ("float x[(N < 3) ? 1 : 2], int n", [("float*", "x"), ("int", "n")]),
        (
            "const float *const *rows, Params const &p",
            [
                ("const float* const*", "rows"),
                ("Params const&", "p"),
            ],
        ),
        ("const float* __restrict__ const x, int", [("const float* const", "x"), ("int", None)]),
    ],
)
def test_parameters(parameters, expected):
    assert found(f"__global__ void k({parameters}) {{}}") == {"k": expected}


@pytest.mark.parametrize(
    "text",
    [
        'extern "C" __global__ void __launch_bounds__(256, 2) k(int n) {}',
        "static __global__ __launch_bounds__(N) void k(int n);",
        "template <typename T, int N> __global__ void k(int n) {}",
        '#define KERNEL extern "C" __global__ void\nKERNEL k(int n) {}',
        "#define BOUNDS(x) __launch_bounds__(x)\n__global__ BOUNDS(3) void k(int n) {}",
        "__global__ __attribute__((unused)) void ns::k(int n) {}",
        'const char *s = "__global__ void f(float x)"; // __global__ void g(int);\n'
        "__global__ void k(int n) {}",
        'auto s = R"(" __global__ void f(float x) )"; __global__ void k(int n) {}',
        "#define T \\\n  float\n__global__ void k(int n) {}",
        "__global__ OWN_BOUNDS(256, 2) void k(int n) {}",
        "__launch_bounds__(1'024) __global__ void k(int n) {}",
        "__global__ void k(int n) noexcept {}",
        "__global__ auto k(int n) -> void {}",
        "template <class T> __global__ void k(T n);\ntemplate <> __global__ void k<int>(int n) {}",
        "#if 0\n__global__ void old(float x) {}\n#else\n__global__ void k(int n) {}\n#endif",
        "#if 1 // now\n__global__ void k(int n) {}\n#else\n__global__ void old(int n) {}\n#endif",
        "namespace a::b { inline namespace c { __global__ void k(int n) {} } }",
        "#define __global__\n#undef __global__\n__global__ void k(int n) {}",
    ],
)
def test_what_stands_around_them(text):
    assert found(text) == {"k": [("int", "n")]}


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(void (*f)(int), int n) {}",
        "template <typename... T> __global__ void k(T... all) {}",
        "#define PARAMETERS(n) int n\n__global__ void k(PARAMETERS(n)) {}",
        "#define NAME k\n__global__ void NAME(int n) {}",
        "template __global__ void k<float>(float *, int);",
        "__global__ void k(int n",
        "#define __global__",
        "friend __global__;",
    ],
)
def test_what_is_not_understood(text):
    assert found(text) == {}


def test_definitions():
    def definitions(text: str) -> list[bool]:
        return [each.is_definition for each in declarations([text])]

    assert definitions("__global__ void k(int n); void f() {}") == [False]
    assert definitions("__global__ void k(int n) {}") == [True]
    assert definitions("__global__ void k(int n) noexcept(true)\n{}") == [True]
    assert definitions("__global__ auto k(int n) -> void;") == [False]


@pytest.mark.parametrize(
    ("conditions", "kernels"),
    [
        ("#if 0\n{a}#elif 0\n{b}#else\n{c}#endif", "c"),
        ("#if 0\n{a}#elif 1\n{b}#else\n{c}#endif", "b"),
        ("#if 0\n{a}#elif X\n{b}#else\n{c}#endif", "bc"),
        ("#if X\n{a}#elif 0\n{b}#else\n{c}#endif", "ac"),
        ("#if X\n{a}#elif 1\n{b}#else\n{c}#endif", "ab"),
        ("#ifdef X\n{a}#else\n{b}#endif\n{c}", "abc"),
        ("#if 0\n#if 1\n{a}#endif\n{b}#endif\n{c}", "c"),
        ("#if 0\n#ifndef X\n{a}#else\n{b}#endif\n#else\n{c}#endif", "c"),
        ("#if 0 /* old\n */\n{a}#endif\n#endif\n{b}{c}", "bc"),
    ],
)
def test_conditions(conditions, kernels):
    text = conditions.format(**{each: f"__global__ void {each}();\n" for each in "abc"})
    assert "".join(found(text)) == kernels


def test_macros_and_aliases():
    text = "#define REAL float\ntypedef double scalar; using index = unsigned int;\n"
    text += "#define RESTRICT __restrict__\n"
    text += "__global__ void k(REAL *RESTRICT x, const scalar *y, index n) {}"
    assert found(text)["k"] == [("float*", "x"), ("const double*", "y"), ("unsigned int", "n")]
    guarded = "#ifndef T\n#define T float\n#endif\n__global__ void k(T *x) {}"
    assert found(guarded)["k"] == [("float*", "x")]
    assert found(guarded, "T=double")["k"] == [("double*", "x")]
    empty = "__global__ void k(float *OPTIONAL x) {}"
    assert found(empty, "OPTIONAL=")["k"] == [("float*", "x")]


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef A\n#define REAL float\n#else\n#define REAL double\n#endif\n",
        "#define REAL half\nstruct half { short bits; };\n",
        "#define REAL VECTOR(float)\n#define VECTOR(x) x\n",
        "#define REAL OTHER\n#define OTHER float;\n",
        "#define REAL float\n#undef REAL\ntypedef int REAL;\n",
        "struct A { using REAL = float; }; struct B { using REAL = double; };",
        "using REAL = float; template <class REAL>",
    ],
)
def test_types_with_several_meanings_are_unknown(text):
    assert found(f"{text}__global__ void k(REAL *x) {{}}")["k"] == [(None, "x")]


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("reals x", ("float*", "x")),
        ("const reals *x", ("const float**", "x")),
        ("ns::real *x", (None, "x")),  # may be another one
        ("real::type x", (None, "x")),
        ("pointer<float> x", (None, "x")),
        ("Params p", ("Params", "p")),
        ("float *real", ("float*", "real")),  # hides the type
    ],
)
def test_aliases(parameter, expected):
    text = "typedef float real, other; typedef float *reals; using real = float;\n"
    text += "template <class T> using pointer = T *;\n"
    text += "typedef struct Params { int n; } Params; typedef struct Params Params;\n"
    assert found(f"{text}__global__ void k({parameter}) {{}}")["k"] == [expected]


def test_macros_that_double():
    lines = [f"#define A{n} A{n + 1} A{n + 1}\n" for n in range(40)]
    assert found(f"{''.join(lines)}__global__ void k(A0 x) {{}}")["k"] == [(None, "x")]


# --- beside the PTX ------------------------------------------------------------------------------


def kernel(
    name: str, *types: str | None, source: str, folders: Sequence[str] = ()
) -> list[Parameter]:
    sizes = {"f32": 4, "u32": 4, "int": 4, "float": 4, "b8[2]": 2, "b8[12]": 12}
    parameters = tuple(
        Parameter(index, 8 * index, sizes.get(each or "", 8), type=each)
        for index, each in enumerate(types)
    )
    facts = ImageFacts(ImageKind.PTX, kernels=(KernelFacts(name, parameters),))
    told = with_declarations(facts, read_texts(source.encode(), "kernel.cu", folders))
    return [*told.kernels[0].parameters]


def shown(parameters: list[Parameter]) -> list[str]:
    return [f"{each.type} {each.name}" for each in parameters]


def test_a_c_kernel_gets_types_and_names():
    source = 'extern "C" __global__ void k(float a, float *x, int n, half h, Mode m, Params p) {}'
    told = kernel("k", "f32", "u64", "u32", "b8[2]", "u32", "b8[12]", source=source)
    assert shown(told) == ["float a", "float* x", "int n", "half h", "u32 m", "Params p"]


def test_types_that_the_ptx_contradicts_are_not_taken():
    source = 'extern "C" __global__ void k(float a, int b, float *x, double d) {}'
    told = kernel("k", "u32", "f32", "f32", "f32", source=source)
    assert shown(told) == ["u32 a", "f32 b", "f32 x", "f32 d"]


def test_mangled_types_are_kept():
    source = "template <class T> __global__ void k(T *x, T f) {}\n"
    source += "template __global__ void k<float>(float *, float);"
    told = kernel("_Z1kIfEvPT_S0_", "float*", "float", source=source)
    assert shown(told) == ["float* x", "float f"]


def test_overloads():
    source = "__global__ void k(float *x, int n) {} __global__ void k(int *y, int m) {}"
    assert shown(kernel("_Z1kPii", "int*", "int", source=source)) == ["int* y", "int m"]
    assert shown(kernel("_Z1kPfi", "float*", "int", source=source)) == ["float* x", "int n"]
    assert shown(kernel("_Z1kPdi", "double*", "int", source=source)) == ["double* None", "int None"]


def test_definitions_come_before_declarations():
    source = "__global__ void k(float *in); __global__ void k(float *x) {}"
    assert shown(kernel("_Z1kPf", "float*", source=source)) == ["float* x"]


def test_declarations_that_disagree():
    source = '#if A\nextern "C" __global__ void k(float *x, int n) {}\n#else\n'
    source += 'extern "C" __global__ void k(double *x, int m) {}\n#endif'
    assert shown(kernel("k", "u64", "u32", source=source)) == ["u64 x", "int None"]
    assert shown(kernel("k", "u64", source=source)) == ["u64 None"]  # another number of them


def test_a_declaration_that_the_ptx_contradicts():
    source = '#if A\nextern "C" __global__ void k(float *x, int n) {}\n#else\n'
    source += 'extern "C" __global__ void k(int m, float *y) {}\n#endif'
    assert shown(kernel("k", "u32", "u64", source=source)) == ["int m", "float* y"]


def test_a_specialization_with_other_names():
    source = "template <class T> __global__ void k(T *in, T *out) {}\n"
    source += "template <> __global__ void k<float>(float *out, float *in) {}\n"
    told = kernel("_Z1kIfEvPT_S1_", "float*", "float*", source=source)
    assert shown(told) == ["float* None", "float* None"]
    told = kernel("_Z1kIiEvPT_S1_", "int*", "int*", source=source)
    assert shown(told) == ["int* in", "int* out"]


def test_headers_of_folders(tmp_path: Path):
    for name, first in (("given", "float *x"), ("own", "int *i")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.h").write_text(f"__global__ void k({first}) {{}}")
    given, source = [str(tmp_path / "given")], '#include "kernel.h"\n'
    facts = ImageFacts(
        ImageKind.PTX, kernels=(KernelFacts("k", (Parameter(0, 0, 8, type="u64"),)),)
    )
    origin = str(tmp_path / "own/kernel.cu")

    def parameter(source: str, folders: list[str]) -> str:
        told = with_declarations(facts, read_texts(source.encode(), origin, folders))
        return shown([*told.kernels[0].parameters])[0]

    assert parameter(source, []) == "int* i"
    assert parameter(source, given) == "float* x"  # the order of the compiler
    assert parameter("#include <kernel.h>", given) == "float* x"
    assert parameter(f"/*\n{source}*/", given) == "u64 None"


def test_headers(tmp_path: Path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own/kernel.h").write_text('#include "type.h"\n__global__ void k(REAL *x) {}\n')
    (tmp_path / "own/type.h").write_text('#define REAL float\n#include "kernel.h"\n')
    source = '#include "kernel.h"\n#include "none.h"\n'
    assert shown(kernel("_Z1kPf", "u64", source=source)) == ["u64 None"]
    told = kernel("k", "u64", source=source, folders=[str(tmp_path / "own")])
    assert shown(told) == ["float* x"]
