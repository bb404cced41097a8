"""Kernels so large that their operations are shared functions, and their registers share memory."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from cudarun.emulator.code import BlockCode, RegisterUse
from cudarun.emulator.compiled.control import warp_code
from cudarun.emulator.compiled.control.allocation import place_registers
from cudarun.emulator.compiled.kernels import KernelModule
from cudarun.emulator.compiled.lanes.parts import PART
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, ModuleText
from cudarun.emulator.compiled.state.registers import FixedValues, WarpRegisters
from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.engines import COMPILE
from cudarun.emulator.machine.frame import each, mask_of
from cudarun.ptx.parser import parse
from tests.emulator.compiled.engines import check_equal, check_equal_fault, device
from tests.emulator.device import HEADER

STEPS = 700  # of some instructions each


def large(steps: int) -> str:
    """A kernel of many instructions: arithmetic, branches, memory, shuffles and barriers."""
    lines = []
    for step in range(steps):
        now, next_ = step % 40, (step + 1) % 40
        lines += [
            f"mad.lo.u32 %r{next_}, %r{now}, {step | 1}, %t;",
            f"cvt.rn.f32.u32 %f{next_}, %r{next_};",
            f"fma.rn.f32 %f{now}, %f{now}, 0f3F000000, %f{next_};",
        ]
        match step % 7:
            case 1:
                lines += [
                    f"setp.gt.u32 %p, %r{next_}, {step << 20};",
                    f"@%p bra L{step};",
                    f"xor.b32 %r{next_}, %r{next_}, %r{now};",
                    f"L{step}:",
                ]
            case 2:
                lines += [f"st.shared.u32 [%s], %r{next_};", f"ld.shared.u32 %r{next_}, [%s];"]
            case 3:
                lines.append(f"shfl.sync.bfly.b32 %r{next_}, %r{next_}, {1 + step % 31}, 31, -1;")
            case 4:
                lines.append("bar.sync 0;")
    text = "\n    ".join(lines)
    return f"""{HEADER}.visible .entry large(.param .u64 out) {{
    .shared .align 4 .b8 room[256];
    .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b32 %t; .reg .b32 %s; .reg .b64 %a<3>;
    .reg .pred %p;
    ld.param.u64 %a0, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %a1, %t, 8;
    add.u64 %a2, %a0, %a1;
    mov.u32 %s, room;
    mad.lo.u32 %s, %t, 4, %s;
    mov.u32 %r0, %t;
    {text}
    st.global.u32 [%a2], %r{steps % 40};
    st.global.f32 [%a2+4], %f{(steps - 1) % 40};
    ret;
}}"""


def test_thousands_of_instructions_are_compiled() -> None:
    text = large(STEPS)
    program = compile_module(parse(text))
    module = KernelModule(program.code["large"], program)
    functions = module.text.text().count("@shared")
    calls = sum(len(block.operations) for block in module.code.function.blocks)
    assert calls > 2 * warp_code._MOST_INLINE
    assert functions > calls  # each is called, and the functions are defined
    check_equal(text, (2,), (64,), np.zeros(128, "u4"))


@pytest.mark.parametrize("threads", [32, 45])
def test_shared_operations(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr(warp_code, "_MOST_INLINE", 0)
    buffers = check_equal(large(30), (1,), (threads,), np.zeros(128, "u4"))
    assert any(buffers[0])


def test_faults_of_shared_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warp_code, "_MOST_INLINE", 0)
    fault = check_equal_fault(large(30), (1,), (32,), np.zeros(10, "u4"))
    assert "st.global" in fault


LOADS = f"""{HEADER}.visible .entry sum(.param .u64 in, .param .u64 out) {{
    .reg .b64 %a<3>; .reg .b32 %r<5>; .reg .b32 %t;
    ld.param.u64 %a0, [in];
    ld.param.u64 %a2, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %a1, %t, 16, %a0;
    ld.global.u32 %r0, [%a1+4];
    ld.global.u32 %r1, [%a1+8];
    ld.global.u32 %r2, [%a1+12];
    mad.lo.u32 %r3, %r0, 3, %r1;
    mad.lo.u32 %r4, %r3, 5, %r2;
    mad.wide.u32 %a1, %t, 4, %a2;
    st.global.u32 [%a1], %r4;
    ret;
}}"""


def test_loads_that_share_a_function_have_their_own_faults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(warp_code, "_MOST_INLINE", 0)
    program = compile_module(parse(LOADS))
    text = KernelModule(program.code["sum"], program).text.text()
    records = re.search(r"@records = .*", text)
    assert records is not None
    functions = re.findall(r"@(shared\.\w+)", records[0])
    assert max(map(functions.count, functions)) == 3
    out = np.zeros(32, "u4")
    check_equal(LOADS, (1,), (32,), np.arange(128, dtype="u4"), out)
    fault = check_equal_fault(LOADS, (1,), (32,), np.arange(126, dtype="u4"), out)
    assert "ld.global.u32 %r1, [%a1+8];" in fault


def test_kernels_share_functions() -> None:
    """Of a kernel with other registers, constants and jumps only its own part is another one."""

    def parts(text: str) -> list[str]:
        program = compile_module(parse(text))
        made = KernelModule(program.code["sum"], program, is_quick=True)
        return made.text.text().split(PART)

    first, second = parts(LOADS), parts(LOADS.replace("3, %r1", "7, %r2").replace("+4", "+20"))
    assert first[0] != second[0]
    assert {*first[1:]} == {*second[1:]}


PRODUCTS = f"""{HEADER}.visible .entry products(.param .u64 out) {{
    .reg .b64 %a<3>; .reg .b32 %t; .reg .b32 %h<4>; .reg .f32 %f<4>;
    ld.param.u64 %a0, [out];
    mov.u32 %t, %tid.x;
    mad.lo.u32 %h0, %t, 65537, 0x3C003C00;
    add.u32 %h1, %h0, %t;
    add.u32 %h2, %h1, 65537;
    mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{%f0,%f1,%f2,%f3}}, {{%h0,%h1}}, {{%h2}},
        {{%f0,%f1,%f2,%f3}};
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{%f0,%f1,%f2,%f3}}, {{%h1,%h2}}, {{%h0}},
        {{%f0,%f1,%f2,%f3}};
    mad.wide.u32 %a1, %t, 16, %a0;
    st.global.v4.f32 [%a1], {{%f0,%f1,%f2,%f3}};
    ret;
}}"""


@pytest.mark.parametrize("threads", [32, 16])
def test_products_share_a_function(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """Each has a callback of its own, which executes it in a warp with fewer threads."""
    monkeypatch.setattr(warp_code, "_MOST_INLINE", 0)
    program = compile_module(parse(PRODUCTS))
    module = KernelModule(program.code["products"], program)
    places = [site.work.site for site in module.code.sites.sites if site.work.site is not None]
    assert [each.line for each in places if each.name.startswith("mma")] == [12, 14]
    records = re.search(r"@records = .*", module.text.text())
    assert records is not None
    first, second = re.findall(r"@(shared\.\w+)", records[0])[-6:-4]
    assert first == second
    check_equal(PRODUCTS, (1,), (threads,), np.zeros(128, "f4"))


def test_registers_that_are_needed_together_have_places_of_their_own() -> None:
    program = compile_module(parse(large(60)))
    function = program.code["large"]
    registers = WarpRegisters(CodeBuilder(ModuleText()), function, FixedValues())
    used = {slot for block in function.blocks for slot in _slots(block)}
    placed = place_registers(function, registers, mask_of(used))
    places = placed.of
    assert places.keys() == used
    assert len(placed.sizes) < len(used)
    for block in function.blocks:
        needed = [slot for slot in each(block.live_in | block.live_out) if slot in used]
        for one, other in itertools.combinations(needed, 2):
            assert places[one] != places[other]


def _slots(block: BlockCode) -> set[int]:
    uses = [use for each_ in block.operations for use in (*each_.sources, *each_.destinations)]
    return {use.slot for use in uses if isinstance(use, RegisterUse)}


def test_long_loops_serve_signals() -> None:
    """Time limits and Ctrl-C wait for that."""
    body = "mad.lo.u32 %r0, %r0, 1664525, %r1;\n" * 4500
    text = f"""{HEADER}.visible .entry long_loop(.param .u64 out) {{
    .reg .b64 %a; .reg .b32 %r<2>; .reg .pred %p;
    ld.param.u64 %a, [out];
    mov.u32 %r0, %tid.x; mov.u32 %r1, 0;
    L: {body} add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 200; @%p bra L;
    st.global.u32 [%a], %r0;
    ret;
    }}"""
    made, _ = device(text, COMPILE)
    reports: list[float] = []
    real = made.execute
    made.execute = lambda *given, **named: real(*given, **{**named, "on_progress": reports.append})
    made.launch("long_loop", (1,), (1,), made.buffer(np.zeros(1, "u4")))
    assert reports.count(0.0) > 1  # the first one is before it is compiled
