"""The use of a kernel's parameters, read from its PTX."""

from __future__ import annotations

import pytest

from cudarun.images.ptx_usage import KernelUsage, KernelUsages, PointerUse

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def usage(
    body: str, *, parameters: str = ".param .u64 p, .param .u64 q", before: str = ""
) -> KernelUsage:
    """The usage of a kernel with some instructions, in which two parameters are loaded."""
    text = f"""{HEAD}{before}
        .visible .entry f({parameters}) {{
            .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<9>;
            ld.param.u64 %rd1, [p];
            ld.param.u64 %rd2, [q];
            {body}
            ret;
        }}"""
    usage = KernelUsages(text.encode()).of("f")
    assert usage is not None
    return usage


def test_a_parameter_that_is_an_address_is_a_pointer_and_another_a_value() -> None:
    found = usage("cvta.to.global.u64 %rd3, %rd1; st.global.u64 [%rd3], %rd2;")
    assert found.pointers == {(0, 0): PointerUse("u64", is_written=True, end=8)}
    assert found.values == {(0, 0): "u64", (1, 0): "u64"}


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("ld.global.f32 %f1, [%rd4];", PointerUse("f32", is_read=True, end=4)),
        (
            "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4+16];",
            PointerUse("f32", 4, is_read=True, end=32),
        ),
        ("st.global.u8 [%rd4], %r1;", PointerUse("u8", is_written=True, end=1)),
        (
            "atom.global.add.u32 %r2, [%rd4], 1;",
            PointerUse("u32", is_read=True, is_written=True, end=4),
        ),
        (
            "red.global.add.f32 [%rd4], %f1;",
            PointerUse("f32", is_read=True, is_written=True, end=4),
        ),
        ("ld.global.b32 %r1, [%rd4];", PointerUse("b32", is_read=True, end=4)),
        (
            "ld.global.b32 %r1, [%rd4]; add.f32 %r2, %r1, %r1;",
            PointerUse("f32", is_read=True, end=4),
        ),
        ("ld.f64 %rd5, [%rd4];", PointerUse("f64", is_read=True, end=8)),
    ],
)
def test_accesses_through_computed_addresses(instruction: str, expected: PointerUse) -> None:
    found = usage(
        "cvta.to.global.u64 %rd3, %rd1; mul.wide.s32 %rd5, %r1, 4; "
        f"add.s64 %rd4, %rd3, %rd5; {instruction}"
    )
    assert found.pointers == {(0, 0): expected}


def test_a_pointer_in_a_struct() -> None:
    found = usage(
        "ld.param.u64 %rd3, [s+8]; cvta.to.global.u64 %rd4, %rd3; st.global.f32 [%rd4], %f1; "
        "ld.param.v2.f32 {%f1, %f2}, [s+16];",
        parameters=".param .u64 p, .param .u64 q, .param .align 8 .b8 s[24]",
    )
    assert found.pointers == {(2, 8): PointerUse("f32", is_written=True, end=4)}
    assert {place: kind for place, kind in found.values.items() if place[0] == 2} == {
        (2, 8): "u64", (2, 16): "f32", (2, 20): "f32",
    }  # fmt: skip


def test_a_pointer_that_a_loop_advances() -> None:
    found = usage(
        "mov.u64 %rd3, %rd1; LOOP: ld.global.u16 %r1, [%rd3]; add.s64 %rd3, %rd3, 2; bra LOOP;"
    )
    assert found.pointers == {(0, 0): PointerUse("u16", is_read=True, end=2)}
    assert found.has_loop


def test_the_grid_and_the_loops() -> None:
    assert (usage("").dimensions, usage("").has_loop) == (1, False)
    assert usage("mov.u32 %r1, %ctaid.y;").dimensions == 2
    assert usage("mov.u32 %r1, %tid.z;").dimensions == 3
    assert not usage("@%p1 bra END; END:").has_loop


def test_shared_memory() -> None:
    plain = usage(".shared .align 4 .b8 part[256]; st.shared.u32 [%rd1], %r1;")
    assert (plain.shared_arrays, plain.shared_access) == ([256], 4)
    assert plain.pointers == {}
    assert not plain.has_dynamic_shared
    dynamic = usage("mov.u64 %rd3, staged;", before=".extern .shared .align 16 .b8 staged[];")
    assert dynamic.has_dynamic_shared
    other = usage("", before=".extern .shared .align 16 .b8 staged[];")
    assert not other.has_dynamic_shared


def test_a_sum_of_all_members_has_some_of_them() -> None:
    """The set of a register is copied with each instruction: all of them would be quadratic."""
    members = "".join(
        f"ld.param.u64 %rd3, [s+{8 * n}]; add.s64 %rd4, %rd4, %rd3;\n" for n in range(500)
    )
    given = ".param .u64 p, .param .u64 q, .param .b8 s[4000]"
    found = usage(f"{members} ld.global.u32 %r1, [%rd4];", parameters=given)
    assert 50 < len(found.pointers) < 100
    assert len(found.values) == 502


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b".version 8.0\n.target sm_90\n.entry f( {"])
def test_other_files_have_none(data: bytes) -> None:
    assert KernelUsages(data).of("f") is None
