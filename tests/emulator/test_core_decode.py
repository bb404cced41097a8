"""What is refused: everything that is not implemented or does not fit, all of it, with its line."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.decode.module import compile_module
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.emulator.device import HEADER, Device

BODY = """
.visible .entry test(.param .u64 a)
{{
    .reg .pred %p; .reg .b16 %h; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %d<4>; .reg .f64 %g;
    {}
    ret;
}}
"""


def complaints(text: str) -> list[tuple[int, str]]:
    with pytest.raises(PtxError) as caught:
        compile_module(parse(HEADER + text))
    return [(d.position.line, d.message) for d in caught.value.diagnostics]


def complaint(line: str) -> str:
    ((number, message),) = complaints(BODY.format(line))
    assert number == 8
    return message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sust.b.1d.b32 [s, {%r0}], %r1;", "this form of 'sust' is not implemented"),
        ("tcgen05.shift.cta_group::1.down [%r0];", "'tcgen05.shift' not supported on .target"),
        ("wgmma.fence.sync.aligned;", "Instruction 'wgmma.fence' not supported on .target 'sm_90'"),
        ("add.rn.ftz.f64 %g, %g, %g;", "'add.rn.ftz.f64' is not a form of instruction 'add'"),
        ("add.u32.foo %r0, %r1, %r2;", "Unknown modifier '.foo'"),
        ("foo.u32 %r0, %r1, %r2;", "Not a name of any known instruction: 'foo'"),
        ("vote.all.pred %p, %p;", "Instruction 'vote' without '.sync' is not supported"),
        ("isspacep.param::func %p, %d0;", "Illegal modifier '::func' for instruction 'isspacep'"),
        ("add.u32 %r0, %r1;", "Arguments mismatch for instruction 'add'"),
        ("add.u32 %r0, %r1, %d0;", "Arguments mismatch for instruction 'add'"),
        (
            "ld.global.L2::cache_hint.b32 %r0, [%d0], 0d3FF0000000000000;",
            "Arguments mismatch for instruction 'ld'",
        ),
        ("add.u32 %r0, %r1, %f0;", "Arguments mismatch for instruction 'add'"),
        ("add.f32 %f0, %f1, 1;", "Arguments mismatch for instruction 'add'"),
        ("add.u32 %r0, %r1, %p;", "Arguments mismatch for instruction 'add'"),
        ("add.u32 %r0, %r1, 0f3F800000;", "Arguments mismatch for instruction 'add'"),
        ("add.u32 %tid.x, %r1, %r2;", "Arguments mismatch for instruction 'add'"),
        ("add.u32 7, %r1, %r2;", "Arguments mismatch for instruction 'add'"),
        ("add.u32 %r0, %r1, %r9;", "Unknown symbol '%r9'"),
        ("ld.global.u32 %r0, [nowhere];", "Unknown symbol 'nowhere'"),
        ("ld.global.u64 %r0, [%d0];", "Arguments mismatch for instruction 'ld'"),
        ("ld.global.v2.u32 {%r0, %r1, %r2}, [%d0];", "Arguments mismatch for instruction 'ld'"),
        ("ld.global.v2.u32 %r0, [%d0];", "Arguments mismatch for instruction 'ld'"),
        ("ld.global.u32 %r0, [%f0];", "Illegal to use symbol '%f0' of type .f32 as address"),
        ("lop3.b32 %r0, %r1, %r2, %r3, %r0;", "Arguments mismatch for instruction 'lop3'"),
        ("bra nowhere;", "Unknown symbol 'nowhere'"),
        ("bra %r0;", "Arguments mismatch for instruction 'bra'"),
        ("call nothing;", "Unknown symbol 'nothing'"),
        ("mov.u32 %r0, %pm8;", "Unknown symbol '%pm8'"),
        ("bar.sync;", "Arguments mismatch for instruction 'bar'"),
        ("@%r0 bra there; there:", "Arguments mismatch for instruction 'bra'"),
        ("mov.b64 {%r0, %r1, %r2}, %d0;", "Arguments mismatch for instruction 'mov'"),
        *(
            (f"tex.{words} {operands};", message)
            for words, operands, message in (
                (
                    "2d.v4.f32.f32",
                    "{%f0, %f0, %f0, %f0}, [%d0, %d0, {%f0, %f0}]",
                    "tex with a separate sampler in unified mode is not implemented",
                ),
                (
                    "level.2d.v4.f32.f32",
                    "{%f0, %f0, %f0, %f0}, [%d0, {%f0, %f0}], %f0, %f1",
                    "tex with a depth to compare with is not implemented",
                ),
                ("1d.v4.f32.f32", "{%f0, %f0, %f0, %f0}, [t, {%f0}]", "tex of a .texref or"),
                ("1d.v4.f32.f32", "{%f0, %f0}, [%d0, {%f0}]", "Argument vector size mismatch"),
                (
                    "2d.v4.f32.f32",
                    "{%f0, %f0, %f0, %f0}, [%d0, {%f0}]",
                    "Operand vector size doesn't match geometry for instruction 'tex'",
                ),
                (
                    "2d.v4.f32.f32",
                    "{%f0, %f0, %f0, %f0}, [%d0, {%f0, %f0, %f0}]",
                    "Illegal vector size: 3",
                ),
                (
                    "grad.2d.v4.f32.f32",
                    "{%f0, %f0, %f0, %f0}, [%d0, {%f0, %f0}], {%f0}, {%f0}",
                    "Operand vector size doesn't match geometry for instruction 'tex'",
                ),
                ("1d.v4.f32.f32", "{%f0, %f0, %f0, %f0}, [%r0, {%f0}]", "Arguments mismatch"),
                ("1d.v4.u32.f32", "{%f0, %f0, %f0, %f0}, [%d0, {%f0}]", "Arguments mismatch"),
                ("1d.v4.f32.s32", "{%f0, %f0, %f0, %f0}, [%d0, {%f0}]", "Arguments mismatch"),
                ("1d.v4.f32.f32", "{%f0, %f0, %f0, %f0}, [%d0]", "Arguments mismatch"),
                ("1d.v4.f32.f32", "%f0, [%d0, {%f0}]", "Arguments mismatch for instruction 'tex'"),
            )
        ),
        ("txq.width.b32 %r0, [%d0+8];", "Argument 1 of instruction 'txq': .texref or .u64"),
    ],
)
def test_refused(line: str, message: str) -> None:
    assert message in complaint(line)


def test_an_offset_is_refused_after_the_same_without_one() -> None:
    [(_, message)] = complaints(
        BODY.format("txq.width.b32 %r0, [%d0]; txq.width.b32 %r0, [%d0+8];")
    )
    assert "Argument 1 of instruction 'txq'" in message


def test_everything_is_listed_in_the_order_of_the_lines() -> None:
    body = "tex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [t, {%f0}];\nadd.u32 %r0, %r1;\nmov.u32 %r0, %zz;"
    text = BODY.format(body)
    found = complaints(text + text.replace("test", "other"))
    assert [line for line, _ in found] == [8, 9, 10, 17, 18, 19]


def test_a_function_that_is_nowhere() -> None:
    text = ".extern .func missing;\n" + BODY.format("call missing;")
    ((_, message),) = complaints(text)
    assert message == "Unresolved extern function 'missing'"


def test_directives_that_change_what_a_kernel_is_are_refused() -> None:
    text = BODY.format("").replace("(.param .u64 a)", "(.param .u64 a) .blocksareclusters")
    ((_, message),) = complaints(text)
    assert "blocksareclusters" in message


def test_attributes_of_a_kernel() -> None:
    device = Device(
        """
        .const .align 4 .b8 table[100];
        .shared .align 16 .b8 outside[48];
        .visible .entry test(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20])
        .maxntid 128, 2
        {
            .shared .align 8 .b8 own[24]; .shared .b8 unused[1000]; .local .b8 mine[40];
            .reg .b32 %r<40>;
            mov.u32 %r0, own; mov.u32 %r1, outside;
            ret;
        }
        .visible .entry other() .reqntid 8, 4
        { ret; }
        """
    )
    kernel = device.program.kernels["test"]
    assert kernel.parameters == ((0, 1), (8, 8), (16, 20))
    assert kernel.parameter_bytes == 36
    assert (kernel.static_shared, kernel.local_bytes, kernel.const_bytes) == (1072, 40, 100)
    assert (kernel.max_threads, kernel.required_block, kernel.ptx_version) == (256, None, 88)
    assert 16 <= kernel.registers <= 255
    other = device.program.kernels["other"]
    assert (other.max_threads, other.required_block) == (32, (8, 4, 1))


def test_initial_values_and_addresses_in_them() -> None:
    device = Device(
        """
        .global .align 4 .u32 words[4] = {1, -1, 0xFF};
        .global .f32 number = 0f40490FDB;
        .global .f64 decimal = 1.5;
        .global .align 8 .u64 places[2] = {generic(words) + 4, number};
        .global .b8 part[2] = {0xFF(words), 0xFF00(words)};
        .visible .global .attribute(.managed) .u32 shared_one;
        .extern .global .u32 elsewhere;
        """
    )
    variables = device.program.variables
    assert variables["words"].initial.hex() == "01000000ffffffffff000000"
    assert variables["words"].size == 16
    assert variables["number"].initial.hex() == "db0f4940"
    assert variables["decimal"].initial.hex() == "000000000000f83f"
    places = variables["places"].relocations
    assert [(p.offset, p.symbol, p.addend, p.width) for p in places] == [
        (0, "words", 4, 8),
        (8, "number", 0, 8),
    ]
    assert [(p.width, p.mask) for p in variables["part"].relocations] == [(1, 0xFF), (1, 0xFF00)]
    assert variables["shared_one"].managed
    assert variables["elsewhere"].linkage == "extern"


SHUFFLE = "shfl.sync.bfly.b32 %r0, %r0, 1, 31, {};"


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        ([SHUFFLE.format(-1)] * 3, 1),
        ([SHUFFLE.format(-1), "add.u32 %r0, %r0, 1;", "vote.sync.all.pred %p, %p, -1;"], 1),
        ([SHUFFLE.format(-1), SHUFFLE.format("0xff"), SHUFFLE.format(-1)], 1),
        ([SHUFFLE.format(-1), SHUFFLE.format("%r1"), SHUFFLE.format(-1)], 1),
        ([SHUFFLE.format(-1), "L:", SHUFFLE.format(-1), "@%p bra L;"], 2),
        ([SHUFFLE.format(-1), "@%p add.u32 %r0, %r0, 1;", SHUFFLE.format(-1)], 2),
        ([SHUFFLE.format(-1), "@%p ret;", SHUFFLE.format(-1)], 2),
        ([SHUFFLE.format(-1), "bar.sync 0;", SHUFFLE.format(-1)], 2),
    ],
)
def test_whole_warps_run_what_others_wait_in(lines: list[str], runs: int) -> None:
    program = compile_module(parse(HEADER + BODY.format("\n".join(lines))))
    blocks = program.code["test"].blocks
    instructions = sum("sync" in line for line in lines if "bar" not in line)
    assert sum(block.sync_mask is not None for block in blocks) == instructions
    found, last = 0, -1
    for block in blocks:
        if block.sync_mask is not None and block.index > last:
            found, last = found + 1, block.through
    assert found == runs


FAMILY = """
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd; .reg .b32 %r;
  ld.param.u64 %rd, [p];
  {
    .reg .b32 a; .reg .b16 a<2>;
    ld.global.u32 a, [%rd];
    mov.b32 {a0, a1}, a;
    mov.b32 %r, {a1, a0};
  }
  st.global.u32 [%rd], %r;
  ret;
}
"""


def test_a_register_with_the_name_of_several_others() -> None:
    """`a` is none of `a0` and `a1`; ptxas accepts both."""
    made = Device(FAMILY)
    place = made.buffer(np.array([0x1234_ABCD], np.uint32))
    made.launch("k", (1,), (1,), place)
    assert made.read(place, "u4", 1)[0] == 0xABCD_1234
