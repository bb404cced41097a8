"""Accesses from one shared variable into the next, on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.engines import COMPILE, INTERPRET
from cudarun.emulator.faults import DeviceFault
from tests.emulator.compiled.engines import device
from tests.emulator.device import Device

KERNEL = """\
.extern .shared .align 4 .b8 dynamic[];
.visible .entry k(.param .u64 out, .param .u32 ahead, .param .u32 which)
{
.reg .b32 %a, %b, %i, %n, %t, %v, %x; .reg .b64 %o; .reg .pred %q;
.shared .align 4 .b8 before[48]; .shared .align 4 .b8 own[128]; .shared .align 16 .b8 after[128];
.local .align 8 .b8 kept[8];
ld.param.u64 %o, [out]; ld.param.u32 %n, [ahead]; ld.param.u32 %x, [which];
mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 4, %o;
mov.u32 %a, own; mov.u32 %b, after; shl.b32 %i, %t, 2;
mad.lo.s32 %i, %n, 4, %i;
mov.u32 %v, 7;
ACCESSES
st.global.u32 [%o], %v;
ret;
}
"""

ACCESS = """setp.ne.u32 %q, %x, NUMBER;
@%q bra after_NUMBER;
{
.reg .b32 %s<4>; .reg .b64 %w<4>; .reg .pred %p;
setp.eq.u32 %p, %n, 77;
TEXT
}
after_NUMBER:
"""

BOUNDED = {
    "add": "add.s32 %s1, %a, %i; ld.shared.u32 %v, [%s1];",
    "sub": "neg.s32 %s2, %i; sub.s32 %s1, %a, %s2; st.shared.u32 [%s1], %v;",
    "mad": "mad.lo.s32 %s1, %n, 4, %a; ld.shared.u32 %v, [%s1];",
    "offset": "mad.lo.s32 %s1, %n, 4, %a; add.s32 %s1, %s1, -64; ld.shared.u32 %v, [%s1+64];",
    "generic": "cvt.u64.u32 %w0, %a; cvta.shared.u64 %w1, %w0; cvt.s64.s32 %w2, %i; "
    "add.s64 %w1, %w1, %w2; ld.u32 %v, [%w1];",
    "one of two names": "selp.b32 %s1, %a, %a, %p; add.s32 %s1, %i, %s1; ld.shared.u32 %v, [%s1];",
    "loop": "mov.u32 %s1, %a; mov.u32 %s2, 0;\nagain: add.s32 %s1, %s1, %n; add.s32 %s2, %s2, 1;\n"
    "setp.lt.u32 %p, %s2, 4; @%p bra again;\nld.shared.u32 %v, [%s1];",
    "atomic": "add.s32 %s1, %a, %i; atom.shared.add.u32 %v, [%s1], %v;",
    "copy": "add.s32 %s1, %a, %i; cp.async.ca.shared.global [%s1], [%o], 4; cp.async.wait_all;",
}
BEYOND = {
    "past": "ld.shared.u32 %v, [own+128];",
    "before": "ld.shared.u32 %v, [own+-4];",
    "of one name": ".shared .align 4 .b8 own[128]; ld.shared.u32 %v, [own+128];",
}
UNBOUNDED = {
    "two variables": "selp.b32 %s1, %a, %b, %p; sub.s32 %s1, %s1, 128; ld.shared.u32 %v, [%s1];",
    "two writes": "mov.u32 %s1, %b;\n@%p mov.u32 %s1, %a;\nld.shared.u32 %v, [%s1+-128];",
    "a difference": "sub.s32 %s1, %b, %a; add.s32 %s1, %a, %s1; ld.shared.u32 %v, [%s1];",
    "memory": "st.local.u32 [kept], %a; ld.local.u32 %s1, [kept]; ld.shared.u32 %v, [%s1+128];",
    "xor": "xor.b32 %s1, %a, 1024; xor.b32 %s1, %s1, 1024; ld.shared.u32 %v, [%s1+128];",
    "dynamic": "mov.u32 %s0, dynamic; ld.shared.u32 %v, [%s0+-128];",
    "null": "selp.b32 %s1, 0, %a, %p; ld.shared.u32 %v, [%s1+128];",
    "a parameter": "sub.s32 %s1, %a, %a; add.s32 %s1, %s1, 1072; add.s32 %s1, %s1, %n; "
    "ld.shared.u32 %v, [%s1+128];",
    "wide": "ld.shared.v4.u32 {%v, %s1, %s2, %s3}, [%a+80];",
}

CASES = [*BOUNDED, *BEYOND, *UNBOUNDED]


@pytest.fixture(scope="module")
def devices() -> list[Device]:
    """The kernel with all accesses on both engines."""
    texts = (BOUNDED | BEYOND | UNBOUNDED).values()
    parts = [ACCESS.replace("NUMBER", f"{n}").replace("TEXT", text) for n, text in enumerate(texts)]
    text = KERNEL.replace("ACCESSES", "".join(parts))
    return [device(text, mode)[0] for mode in (INTERPRET, COMPILE)]


def faults(devices: list[Device], case: str, ahead: int, threads: int = 1) -> list[str]:
    """Return what each engine reports, or an empty text."""
    found = []
    for each in devices:
        out = each.buffer(np.zeros(threads, "u4"))
        try:
            each.launch("k", (2,), (threads,), out, ahead, CASES.index(case), dynamic_shared=64)
        except DeviceFault as fault:
            found.append(fault.report)
        else:
            found.append("")
    return found


@pytest.mark.parametrize("case", BOUNDED)
def test_an_access_stays_in_its_variable(devices: list[Device], case: str) -> None:
    for ahead in (0, 31):
        assert faults(devices, case, ahead) == ["", ""]
    for ahead, words in ((32, "just past the"), (-1, "4 bytes before the")):
        interpreted, compiled = faults(devices, case, ahead)
        assert f"{words} 128 bytes of shared variable own\n" in interpreted
        assert compiled == interpreted


@pytest.mark.parametrize("case", BEYOND)
def test_a_constant_address_beyond_a_variable(devices: list[Device], case: str) -> None:
    interpreted, compiled = faults(devices, case, 0)
    assert "the 128 bytes of shared variable own\n" in interpreted
    assert compiled == interpreted


@pytest.mark.parametrize("case", UNBOUNDED)
def test_other_addresses_may_be_in_any_variable(devices: list[Device], case: str) -> None:
    assert faults(devices, case, 0, 32) == ["", ""]


def test_some_lanes_beyond(devices: list[Device]) -> None:
    assert faults(devices, "add", 0, 32) == ["", ""]
    interpreted, compiled = faults(devices, "add", 3, 32)
    assert "thread (29, 0, 0)" in interpreted
    assert compiled == interpreted
