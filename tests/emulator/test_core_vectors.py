"""Vector registers and special registers as operands, arguments and names: what ptxas accepts."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.host.jit import compile_text
from cudarun.ptx.errors import PtxError
from tests.emulator.device import Device

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def refusal(body: str, functions: str = "", head: str = HEAD) -> str:
    """The complaint about a kernel; empty if there is none."""
    text = f"{head}{functions}\n.visible .entry test(.param .u64 out) {{ {body} ret; }}"
    try:
        compile_text(text)
    except PtxError as error:
        return str(error.log)
    return ""


REGISTERS = (
    ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .v2 .b32 %v; .reg .v4 .b32 %x; "
)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (".reg .u32 %tid; mov.u32 %r0, %tid.x;", "Unknown video selector: '.x'"),
        (".reg .v4 .u32 %tid; mov.u32 %r0, %tid.x;", ""),
        ("mov.u32 %r0, %tid.w;", ""),
        ("mov.v2.u32 %v, %tid;", "Arguments mismatch for instruction 'mov'"),
        ("mov.v4.u32 %x, %tid;", ""),
        ("mov.b32 %v, %v;", "Arguments mismatch for instruction 'mov'"),
        ("mov.v4.b64 {%rd0, %rd1, %rd2, %rd3}, {%rd0, %rd1, %rd2, %rd3};",
         "Vector type too large, exceeds 128 bit limit"),
        ("mov.u32 %r0, %gridid;", ""),
        (".global .b32 g; cvta.to.global.u64 %rd0, g;",
         "Argument 1 of instruction 'cvta.to': must be register"),
        ("ld.shared.u32 %r0, [%r1].unified;", "Illegal use of attribute '.unified'"),
        ("ld.global.u32 %r0, [%rd1].unified;", ""),
    ],
)  # fmt: skip
def test_operands(body: str, says: str) -> None:
    told = refusal(REGISTERS + body)
    assert says in told
    assert bool(says) == bool(told)


def test_a_special_register_is_a_vector_where_none_is_declared() -> None:
    body = """.visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %a;
        ld.param.u64 %a, [out]; mov.v4.u32 {%r0, %r1, %r2, %r3}, %nctaid;
        st.global.v4.u32 [%a], {%r0, %r1, %r2, %r3}; ret; }"""
    device = Device(body)
    out = device.buffer(np.zeros(4, "u4"))
    device.launch("k", (2, 3), (1,), out)
    assert device.read(out, "u4", 4).tolist() == [2, 3, 1, 0]


@pytest.mark.parametrize(
    ("target", "version", "accepted"),
    [
        ("sm_50", "9.0", True),
        ("sm_60", "6.4", True),
        ("sm_70", "6.3", True),
        ("sm_75", "6.4", False),
        ("sm_80", "7.0", False),
    ],
)
@pytest.mark.parametrize("body", ["vote.all.pred %p0, %p1;", "shfl.up.b32 %r0, %r1, 1, 0;"])
def test_operations_of_warps_without_sync(
    target: str, version: str, accepted: bool, body: str
) -> None:
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    told = refusal(REGISTERS + body, head=head)
    assert ("without '.sync' is not supported on .target sm_70" in told) is not accepted


@pytest.mark.parametrize(
    ("parameter", "says"),
    [
        (".param .v4 .f32 p", "Variable 'p' cannot be allocated in .param state space"),
        (".param .align 16 .v4 .f32 p[1]", ""),
        (".reg .v2 .b32 p", ""),
        (".param .b64 p", ""),
        (".reg .v4 .b32 p", "Arguments mismatch for instruction 'call'"),
        (".param .b32 p", "Arguments mismatch for instruction 'call'"),
        (".param .align 8 .b8 p[8]", "Inconsistent state space for parameter 'p'"),
    ],
)
def test_parameters(parameter: str, says: str) -> None:
    call = "" if "[1]" in parameter or ".v4 .f32" in parameter else "call f, (%v);"
    told = refusal(REGISTERS + call, f".func f({parameter}) {{ ret; }}")
    assert says in told
    assert bool(says) == bool(told)


def test_a_vector_register_becomes_a_parameter() -> None:
    text = f"""{HEAD}
        .func (.param .b64 r) swapped(.param .b64 p) {{
            .reg .b32 %a, %b; .reg .b64 %d;
            ld.param.b64 %d, [p]; mov.b64 {{%a, %b}}, %d; mov.b64 %d, {{%b, %a}};
            st.param.b64 [r], %d; ret;
        }}
        .visible .entry test(.param .u64 out) {{
            .reg .v2 .b32 %v; .reg .b32 %t; .reg .b64 %rd, %d;
            ld.param.u64 %rd, [out]; mov.u32 %t, %tid.x; mov.v2.b32 %v, {{%t, 9}};
            call (%d), swapped, (%v);
            mad.wide.u32 %rd, %t, 8, %rd; st.global.b64 [%rd], %d; ret;
        }}"""
    device = Device(text)
    out = device.buffer(np.zeros(4, np.uint64))
    device.launch("test", (1,), (4,), out)
    assert device.read(out, np.uint64, 4).tolist() == [lane << 32 | 9 for lane in range(4)]
