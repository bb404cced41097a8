"""The selection of a kernel by its name as sources write it."""

from __future__ import annotations

import pytest

from cudarun.base.errors import RequestError
from cudarun.session.image.kernels import select_kernel

REDUCE = "_Z6reduceILj128ELb0EEvPf"  # void reduce<128u, false>(float*)
NAMES = [
    REDUCE,
    "_Z6reduceILj256ELb0EEvPf",
    "_Z1fILin1ELc65EEvPKfm",  # void f<-1, (char)65>(float const*, unsigned long)
    "_Z1gIhLx5ELm7EEvT_",  # void g<unsigned char, 5ll, 7ul>(unsigned char)
    "_Z1hIjlEvPKT_",  # void h<unsigned int, long>(unsigned int const*)
    "_Z1iILi1EEvv",
    "_Z1iILj1EEvv",
]


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        ("reduce<128, false>", 0),
        ("reduce<128u,false>", 0),
        ("reduce<256, false>(float *)", 1),
        ("f<-1, 'A'>", 2),
        ("f<-1, 65>(const float*, size_t)", 2),
        ("g<uint8_t, 5, 7>", 3),
        ("g<unsigned char, 5LL, 7UL>", 3),
        ("h<uint32_t, std::int64_t>", 4),
        ("h<unsigned, long int>(const unsigned int *)", 4),
        ("i<1u>", 6),
        ("i<1>", 5),
    ],
)
def test_spellings_of_sources(wanted: str, index: int) -> None:
    assert select_kernel(NAMES, wanted, "x.cubin") == NAMES[index]


@pytest.mark.parametrize("wanted", ["reduce<12, false>", "reduce<128, true>", "h<uint, int>"])
def test_other_arguments_do_not_match(wanted: str) -> None:
    with pytest.raises(RequestError, match="has no kernel"):
        select_kernel(NAMES, wanted, "x.cubin")


def test_several_matches_are_listed() -> None:
    with pytest.raises(RequestError, match="matches 2 kernels"):
        select_kernel(NAMES, "i<1ull>", "x.cubin")


def test_the_kernels_of_libraries_are_not_asked_for() -> None:
    """Every file that includes ``<cub/cub.cuh>`` has this one."""
    empty = "_ZN3cub17CUB_300001_SM_9006detail11EmptyKernelIvEEvv"
    assert select_kernel([REDUCE, empty], None, "k.cu") == REDUCE
    assert select_kernel([empty], None, "k.cu") == empty
    with pytest.raises(RequestError, match="contains 2 kernels"):
        select_kernel([*NAMES[:2], empty], None, "k.cu")
