"""C++ names and their pieces."""

import pytest

from cudarun.images import demangler as module
from cudarun.images.demangler import base_name, demangle, parameter_types, qualified_name, spellings


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("_ZN2ns5scaleIfEEvPT_i", "void ns::scale<float>(float*, int)"),
        ("_Z4axpyPf6float4", "axpy(float*, float4)"),
        ("_ZN12_GLOBAL__N_11kEi", "(anonymous namespace)::k(int)"),
        ("_ZN2ns1xE", "ns::x"),
        ("saxpy", "saxpy"),
        ("f", "f"),  # not the mangled type float
        ("_Zbad", "_Zbad"),
        ("_Z" + "9" * 10_000, "_Z" + "9" * 10_000),
        ("_Z" + "9" * 5_000, "_Z" + "9" * 5_000),
        ("_Z1é", "_Z1é"),
        ("", ""),
    ],
)
def test_demangle(name, signature):
    assert demangle(name) == signature


def test_a_name_of_many_repetitions_is_demangled():
    name = "_Z4copyISt4pairIiiEEv" + "PT_S2_" * 40
    parameters = ["std::pair<int, int>*", "std::pair<int, int>"] * 40
    assert demangle(name) == f"void copy<std::pair<int, int> >({', '.join(parameters)})"


def test_parameter_packs_are_demangled():
    name = (
        "_ZN2ns6launchIJNS_4tileEfdPiPS1_EJcS1_EJLi4ELi16EEEEvNS_5tupleIJDpT_EEENS4_IJDpT0_EEE"
        "NS_5shapeIJXspT1_EEEES6_DpPS8_"
    )
    tiles = "ns::tile, float, double, int*, ns::tile*"
    assert demangle(name) == (
        f"void ns::launch<{tiles}, char, ns::tile, 4, 16>(ns::tuple<{tiles}>, "
        f"ns::tuple<char, ns::tile>, ns::shape<4, 16>, {tiles}, char*, ns::tile*)"
    )


def _doubled(start: str, pair: int, end: str) -> str:
    """Return a name in which each type is a pair of the type before; ``pair`` is `std::pair`."""
    names = ["S_", *(f"S{letter}_" for letter in "0123456789ABCDEFGHIJK")]
    types = "".join(f"{names[pair]}I{2 * name}E" for name in names[pair + 1 :])
    return f"{start}St4pairIiiE{types}{end}"


@pytest.mark.parametrize(
    "name",
    [
        _doubled("_Z6kernel", 0, ""),
        _doubled("_Z6kernelI", 1, "Evv"),
        _doubled("_Z6kernelIZ4mainEUl", 1, "E_EvT_"),
        "_Z6kernelIJ" + "i" * 300 + "EEv" + "DpSt4pairIT_St4pairIT_T_EE" * 30,
    ],
)
def test_a_name_that_becomes_too_long_stays(name):
    assert demangle(name) == name


def test_without_a_cxx_runtime_the_name_stays(monkeypatch):
    monkeypatch.setattr(module, "_cxx_runtime", lambda: None)
    demangle.cache_clear()
    assert demangle("_ZN2ns5scaleIfEEvPT_i") == "_ZN2ns5scaleIfEEvPT_i"
    demangle.cache_clear()


@pytest.mark.parametrize(
    ("signature", "qualified", "base", "types"),
    [
        (
            "void ns::scale<float>(float*, int)",
            "ns::scale<float>",
            "scale",
            ("float*", "int"),
        ),
        ("axpy(float*, float4)", "axpy", "axpy", ("float*", "float4")),
        ("f()", "f", "f", ()),
        ("f[abi:v1][abi:cw51](int)", "f[abi:v1][abi:cw51]", "f", ("int",)),
        ("f(void)", "f", "f", ()),
        ("saxpy", "saxpy", "saxpy", None),
        (
            "void (anonymous namespace)::k<int>(int)",
            "(anonymous namespace)::k<int>",
            "k",
            ("int",),
        ),
        (
            "void f<true>(std::vector<int, std::allocator<int> >, unsigned long)",
            "f<true>",
            "f",
            ("std::vector<int, std::allocator<int> >", "unsigned long"),
        ),
        (
            "void k<&(g(int))>(void (*)(int, float), int [3])",
            "k<&(g(int))>",
            "k",
            ("void (*)(int, float)", "int [3]"),
        ),
        ("void A<int>::f<float>()", "A<int>::f<float>", "f", ()),
        ("ns::F::operator()(int) const", "ns::F::operator()", "operator()", ("int",)),
        (
            "std::enable_if<((4)>(2)), float>::type g<((1)<(2)), 3>(T, int)",
            "g<((1)<(2)), 3>",
            "g",
            ("T", "int"),
        ),
        ("f(A<&ns::B::operator-> >, int)", "f", "f", ("A<&ns::B::operator-> >", "int")),
    ],
)
def test_pieces(signature, qualified, base, types):
    assert qualified_name(signature) == qualified
    assert base_name(signature) == base
    assert parameter_types(signature) == types


@pytest.mark.parametrize("broken", ["f(", "f)", "f<(", ">(", "(", ")", "a b c", "operator<(int)"])
def test_what_is_no_signature_does_no_harm(broken):
    assert isinstance(base_name(broken), str)
    assert parameter_types(broken) is None


def test_every_way_to_write_a_function():
    assert spellings("_ZN2ns5scaleIfEEvPT_i") == (
        "_ZN2ns5scaleIfEEvPT_i",
        "void ns::scale<float>(float*, int)",
        "ns::scale<float>(float*, int)",
        "ns::scale<float>",
        "scale<float>",
        "ns::scale",
        "scale",
    )
    assert spellings("saxpy") == ("saxpy",)
