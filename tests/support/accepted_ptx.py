"""PTX beyond what compilers emit, one kernel each, and the word that it leaves.

ptxas 13.0 takes all of them. `tests/emulator/test_accepted_ptx.py` runs them on the emulated
device, and the chapter ``accepted-ptx`` of `tools/hardware` on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

KERNEL = "k"
_HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
_BODY = """\
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<8>; .reg .b64 %a; .reg .pred %p; .reg .b16 %h<4>;
    ld.param.u64 %a, [out];
    {statements}
    st.global.u32 [%a], %r0;
    ret;
}}
"""


@dataclass(frozen=True)
class AcceptedText:
    """A module with a kernel ``k(out)``, and the word that one thread writes to ``out``.

    ``out`` is 64 bytes long and begins with zeros.
    """

    name: str
    text: str
    result: int


def _text(name: str, result: int, statements: str, before: str = "") -> AcceptedText:
    return AcceptedText(name, _HEAD + before + _BODY.format(statements=statements), result)


_F = ".func (.reg .b32 %r) f"


def texts() -> Iterator[AcceptedText]:
    """Yield all of them."""
    yield _text("global variable in a kernel", 5,
                ".global .align 4 .b32 x = 5; ld.global.u32 %r0, [x];")  # fmt: skip
    yield _text("constant variable in a kernel", 6,
                ".const .align 4 .b32 x = 6; ld.const.u32 %r0, [x];")  # fmt: skip
    yield _text("global variable in a block", 7,
                "{ .global .b32 x[2] = {1, 7}; ld.global.u32 %r0, [x+4]; }")  # fmt: skip
    yield _text("global variable that hides another", 8,
                ".global .b32 x = 8; ld.global.u32 %r0, [x];", ".global .b32 x = 1;\n")  # fmt: skip
    yield _text("global variable in a function", 2,
                "call (%r0), f, (); call (%r0), f, ();",
                f"{_F}() {{ .global .b32 x; ld.global.u32 %r, [x]; add.u32 %r, %r, 1; "
                "st.global.u32 [x], %r; ret; }\n")  # fmt: skip
    yield _text("variables as addresses of cp.async", 3,
                ".shared .align 16 .b8 s[32]; cp.async.ca.shared.global [s+16], [g], 16; "
                "cp.async.wait_all; ld.shared.u32 %r0, [s+24];",
                ".global .align 16 .b32 g[4] = {1, 2, 3, 4};\n")  # fmt: skip
    yield _text("sum as the operand of mov", 8, "mov.u32 %r1, 5; mov.u32 %r0, %r1+3;")
    yield _text("sum with a negative constant", 2, "mov.u32 %r1, 5; mov.u32 %r0, %r1+-3;")
    yield _text("sum as the operand of mul", 40, "mov.u32 %r1, 5; mul.lo.u32 %r0, %r1+3, %r1;")
    yield _text("sum that wraps", 1, "mov.u16 %h1, 0xFFFF; mov.u16 %h0, %h1+2; "
                "cvt.u32.u16 %r0, %h0;")  # fmt: skip
    yield _text("sum to store", 9, "mov.u32 %r1, 5; st.global.u32 [%a+8], %r1+4; "
                "ld.global.u32 %r0, [%a+8];")  # fmt: skip
    yield _text("sum of an address", 4, ".reg .b64 %b; mov.u64 %b, %a+8; "
                "mov.u32 %r1, 4; st.global.u32 [%b], %r1; ld.global.u32 %r0, [%a+8];")  # fmt: skip
    yield _text("sum to compare", 1, "mov.u32 %r1, 5; setp.eq.u32 %p, %r1+3, 8; "
                "selp.u32 %r0, 1, 0, %p;")  # fmt: skip
    yield _text("sum to shift, to convert", 24, "mov.u32 %r1, 5; shl.b32 %r2, %r1+1, 2; "
                "cvt.u32.u8 %r0, %r2+256;")  # fmt: skip
    yield _text("vector register as an argument", 3,
                ".reg .v2 .b32 %w; mov.u32 %w.x, 1; mov.u32 %w.y, 2; call (%r0), f, (%w);",
                f"{_F}(.reg .v2 .b32 %v) {{ add.u32 %r, %v.x, %v.y; ret; }}\n")  # fmt: skip
    yield _text("vector register among arguments", 321,
                ".reg .v2 .b32 %w; mov.u32 %w.x, 2; mov.u32 %w.y, 3; mov.u32 %r1, 1; "
                "call (%r0), f, (%r1, %w);",
                f"{_F}(.reg .b32 %u, .reg .v2 .b32 %v) {{ mad.lo.u32 %r, %v.y, 10, %v.x; "
                "mad.lo.u32 %r, %r, 10, %u; ret; }\n")  # fmt: skip
    yield _text("vector register as a result", 7,
                ".reg .v2 .b32 %w; call (%w), f, (); add.u32 %r0, %w.x, %w.y;",
                ".func (.reg .v2 .b32 %v) f() { mov.u32 %v.x, 3; mov.u32 %v.y, 4; ret; }\n",
                )  # fmt: skip
