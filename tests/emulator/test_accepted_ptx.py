"""PTX that ptxas and drivers take beyond what compilers emit."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.decode.module import compile_module
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.emulator.device import Device
from tests.support.accepted_ptx import KERNEL, AcceptedText, texts

TEXTS = {each.name: each for each in texts()}
KERNEL_TEXT = """\
.version 8.0
.target sm_90
.address_size 64
.func f(.reg .v2 .b32 %v) {{ ret; }}
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<8>; .reg .f32 %f<3>; .reg .pred %p<3>; .reg .v4 .b32 %w; .reg .v2 .b32 %v;
    {statement}
    ret;
}}
"""


@pytest.mark.parametrize("name", TEXTS)
def test_result(name: str) -> None:
    one: AcceptedText = TEXTS[name]
    device = Device(one.text)
    out = device.buffer(np.zeros(16, np.uint32))
    device.launch(KERNEL, (1,), (1,), out)
    assert device.read(out, np.uint32, 16)[0] == one.result


@pytest.mark.parametrize(
    ("statement", "header", "message"),
    [
        ("activemask.b32 %r0;", ".version 6.0\n.target sm_70", "requires PTX ISA .version 6.2"),
        (
            "cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f0;",
            ".version 9.0\n.target sm_50",
            "requires .target sm_",
        ),
    ],
)
def test_the_driver_checks_headers(statement: str, header: str, message: str) -> None:
    registers = ".reg .b32 %r<2>; .reg .b16 %h<2>; .reg .f32 %f<2>;"
    with pytest.raises(PtxError) as caught:
        compile_module(parse(f"{header}\n.visible .entry k() {{ {registers} {statement} ret; }}\n"))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("mov.u32 %r0, %tid.x+3;", "Parsing error near '+'"),
        ("mov.u32 %r0, %r1-3;", "Parsing error near '-'"),
        ("mov.u32 %r0+1, %r1;", "Arguments mismatch for instruction 'mov'"),
        ("mov.u32 %r0, %r1+1.5;", "Integer constant expression expected"),
        ("mov.pred %p0, %p1+1;", "Arguments mismatch for instruction 'mov'"),
        ("add.f32 %f0, %f1+3, %f2;", "a sum as an operand of type .f32 of instruction 'add' is"),
        ("call f, (%w);", "Arguments mismatch for instruction 'call'"),
        ("call f, (%r0);", "Arguments mismatch for instruction 'call'"),
        ("call f, ({%r0, %r1});", "Arguments mismatch for instruction 'call'"),
    ],
)
def test_refused(statement: str, message: str) -> None:
    with pytest.raises(PtxError) as caught:
        compile_module(parse(KERNEL_TEXT.format(statement=statement)))
    assert message in str(caught.value)
