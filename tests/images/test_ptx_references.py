"""The variables to which a kernel refers, through the functions that it calls."""

import pytest

from cudarun.images.ptx_search import references

TEXT = """
.version 8.0
.target sm_90
.address_size 64
.global .u32 direct, indirect, other, unused;
.func (.param .b32 result) middle(.param .b32 x);
.visible .entry first()
{
    ld.global.u32 %r1, [direct];
    { .param .b32 a, b; call.uni (b), middle, (a); }
    ret; // other }
}
.func last ()
{
    st.global.u32 [indirect], %r1; ret;
}
.func .attribute(.unified(1, 2)) (.param .align 8 .b8 result[16]) middle(.param .b32 x)
{
    call last, (); call middle, (x); ret;
}
.visible .entry second() { ld.global.u32 %r1, [other]; call undefined, (); ret; }
.visible .entry third() { call middle
"""
NAMES = ("direct", "indirect", "other", "unused")


@pytest.mark.parametrize(
    ("kernel", "found"),
    [
        ("first", {"direct", "indirect", "other"}),  # a comment counts
        ("second", {"other"}),
        ("third", set()),
        ("absent", set()),
    ],
)
def test_references(kernel, found):
    assert references(TEXT, kernel, NAMES) == found
    assert references(TEXT, kernel, ()) == set()


def test_a_comment_of_many_functions_is_read_in_linear_time():
    """Otherwise this takes minutes."""
    text = f"// {'.func ' * 20_000}\n{TEXT}"
    assert references(text, "second", NAMES) == {"other"}
