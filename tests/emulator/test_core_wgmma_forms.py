"""The forms of ``wgmma`` that ptxas permits, and those that it refuses."""

from __future__ import annotations

import pytest

from cudarun.emulator.decode.module import compile_module
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse

HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n"

BODY = """{header}.visible .entry k()
{{
    .reg .b32 %r<128>; .reg .f32 %f<128>; .reg .b64 %q<2>; .reg .pred %p; .reg .s32 %s<4>;
    .reg .f16x2 %x<4>; .reg .u32 %u<4>;
    {line}
    ret;
}}
"""
F4, R4, A4 = "{%f0, %f1, %f2, %f3}", "{%r0, %r1, %r2, %r3}", "{%r4, %r5, %r6, %r7}"
U4, S4, X4 = "{%u0, %u1, %u2, %u3}", "{%s0, %s1, %s2, %s3}", "{%x0, %x1, %x2, %x3}"
MMA = "wgmma.mma_async.sync.aligned.m64n8k"
SPARSE = "wgmma.mma_async.sp.sync.aligned.m64n8k"
TAIL = "%q1, %p, 1, 1"


def decoded(line: str, header: str = HEADER) -> str:
    """The complaint about a line; empty where it is taken."""
    try:
        compile_module(parse(BODY.format(header=header, line=line)))
    except PtxError as error:
        return error.diagnostics[0].message
    return ""


@pytest.mark.parametrize(
    "line",
    [
        "wgmma.wait_group.sync.aligned 7;",
        "@%p wgmma.fence.sync.aligned;",
        f"{MMA}16.f32.f16.f16 {F4}, %q0, %q1, 1, 1, 1, 0, 0;",
        f"{MMA}16.f32.f16.f16 {F4}, %q0, %q1, !%p, -1, -1, 1, 1;",
        f"{MMA}16.f32.f16.f16 {R4}, {X4}, {TAIL}, 1;",
        f"{MMA}16.f32.f16.f16 {{%f0, %f1, %f2, %f0}}, %q0, {TAIL}, 0, 0;",
        f"{MMA}16.f16.f16.f16 {{%x0, %x1}}, {X4}, {TAIL}, 1;",
        f"{MMA}16.f32.bf16.bf16 {F4}, {X4}, {TAIL}, 1;",
        f"{MMA}8.f32.tf32.tf32 {F4}, {A4}, {TAIL};",
        f"{MMA}32.f16.e4m3.e5m2 {{%r0, %r1}}, %q0, {TAIL};",
        f"{MMA}32.s32.s8.u8.satfinite {U4}, %q0, %q1, %p;",
        f"{MMA}32.satfinite.s32.u8.u8 {S4}, {U4}, %q1, 0;",
        f"{SPARSE}32.f32.f16.f16 {F4}, %q0, %q1, %r0, 1, %p, 1, 1, 0, 0;",
        f"{MMA}256.and.popc.s32.b1.b1 {S4}, {U4}, %q1, %p;",
    ],
)
def test_taken(line: str) -> None:
    assert decoded(line) == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("wgmma.wait_group.sync.aligned -1;", "unexpected value '-1', expected to be non-negative"),
        ("wgmma.wait_group.sync.aligned %r0;", "Arguments mismatch for instruction 'wgmma'"),
        ("wgmma.fence.aligned;", "this form of 'wgmma' is not implemented"),
        (f"{MMA}16.f32.f16.f16 {F4}, %q0, %q1, 2, 1, 1, 0, 0;", "unexpected value '2'"),
        (f"{MMA}16.f32.f16.f16 {F4}, %q0, %q1, %p, 0, 1, 0, 0;", "expected to be -1 or 1"),
        (f"{MMA}16.f32.f16.f16 {F4}, %q0, {TAIL}, 2, 0;", "expected to be 0 or 1"),
        (f"{MMA}16.f32.f16.f16 {F4}, %q0, {TAIL};", "Arguments mismatch"),
        (f"{MMA}16.f32.f16.f16 {F4}, {A4}, {TAIL}, 0, 0;", "Arguments mismatch"),
        (f"{MMA}16.f32.f16.f16 {F4}, {U4}, {TAIL}, 0;", "Arguments mismatch"),
        (f"{MMA}16.f32.f16.f16 {F4}, {F4}, {TAIL}, 0;", "Arguments mismatch"),
        (f"{MMA}16.f32.f16.f16 {S4}, %q0, {TAIL}, 0, 0;", "Arguments mismatch"),
        (f"{MMA}16.f32.f16.f16 {{%f0, %f1}}, %q0, {TAIL}, 0, 0;", "Argument vector size mismatch"),
        (f"{MMA}16.f32.f16.f16 {{%f0, %f1, %f2, _}}, %q0, {TAIL}, 0, 0;", "Arguments mismatch"),
        (f"{MMA}16.f16.bf16.bf16 {{%r0, %r1}}, %q0, {TAIL}, 0, 0;", "is not implemented"),
        (f"{MMA}8.f32.tf32.tf32 {F4}, {F4}, {TAIL};", "Arguments mismatch"),
        (f"{MMA}8.f32.tf32.tf32 {F4}, %q0, {TAIL}, 0, 0;", "Arguments mismatch"),
        (f"{MMA}32.s32.s8.s8 {X4}, %q0, %q1, %p;", "Arguments mismatch"),
        (f"{MMA}32.s32.s8.s8 {S4}, %q0, %q1, %p, 1, 1;", "Arguments mismatch"),
        (f"{MMA}16.f32.f16.f16.satfinite {F4}, %q0, {TAIL}, 0, 0;", "is not implemented"),
        (
            "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 "
            f"{{{', '.join(f'%r{n}' for n in range(20))}}}, %q0, %q1, %p;",
            "is not implemented",
        ),
        (f"{SPARSE}32.f32.f16.f16 {F4}, %q0, %q1, %r0, 2, %p, 1, 1, 0, 0;", "expected to be 0 or"),
        (f"{SPARSE}64.s32.s8.s8 {S4}, %q0, %q1, %r0, 1, %p;", "expected to be 0"),
        (f"{SPARSE}64.s32.s8.s8 {S4}, %q0, %q1, 7, 0, %p;", "Arguments mismatch"),
        (f"{SPARSE}32.f32.f16.bf16 {F4}, %q0, %q1, %r0, 0, %p, 1, 1, 0, 0;", "is not implemented"),
        (f"{MMA}256.s32.b1.b1.xor.popc {S4}, %q0, %q1, %p;", "is not implemented"),
    ],
)
def test_refused(line: str, message: str) -> None:
    assert message in decoded(line)


def test_since() -> None:
    fence, mixed = "wgmma.fence.sync.aligned;", f"{MMA}32.s32.s8.u8 {S4}, %q0, %q1, %p;"
    for target in ("sm_90", "sm_80"):
        wrong = decoded(fence, HEADER.replace("sm_90a", target))
        assert wrong == f"Instruction 'wgmma.fence' not supported on .target '{target}'"
    assert decoded(fence, HEADER.replace("8.4", "8.0")) == ""
    assert "requires PTX ISA .version 8.0" in decoded(fence, HEADER.replace("8.4", "7.8"))
    assert decoded(mixed) == ""
    assert "requires PTX ISA .version 8.4" in decoded(mixed, HEADER.replace("8.4", "8.3"))
