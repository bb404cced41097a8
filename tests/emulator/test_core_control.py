"""Divergence: whatever ways lanes take, each computes what it would compute alone."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudarun.emulator.code import Role
from cudarun.emulator.machine import launch as launch_module
from tests.emulator.device import Device

LANES = 96


class Source:
    """Writes PTX for a random structured program, and computes it for one lane in Python.

    The program works on two registers, ``x`` and ``y``, and the lane's number.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._labels = 0

    def label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"


# A statement is a tuple: ("add", n) | ("mul", n) | ("mix",) | ("if", m, r, then, otherwise)
# | ("loop", m, body) | ("leave", m, r) | ("store",).
def statements(depth: int) -> st.SearchStrategy[list[tuple]]:  # type: ignore[type-arg]
    simple = st.one_of(
        st.tuples(st.just("add"), st.integers(1, 99)),
        st.tuples(st.just("mul"), st.integers(1, 9)),
        st.tuples(st.just("mix")),
        st.tuples(st.just("store")),
    )
    if depth == 0:
        return st.lists(simple, min_size=1, max_size=3)
    inner = statements(depth - 1)
    return st.lists(
        st.one_of(
            simple,
            st.tuples(st.just("if"), st.integers(2, 5), st.integers(0, 4), inner, inner),
            st.tuples(st.just("loop"), st.integers(2, 7), inner),
            st.tuples(st.just("leave"), st.integers(3, 9), st.integers(0, 8)),
        ),
        min_size=1,
        max_size=4,
    )


def emit(source: Source, program: list[tuple], depth: int = 0) -> None:  # type: ignore[type-arg]
    add = source.lines.append
    for statement in program:
        match statement:
            case ("add", n):
                add(f"add.u32 %x, %x, {n};")
            case ("mul", n):
                add(f"mad.lo.u32 %y, %y, {n}, %x;")
            case ("mix",):
                add("xor.b32 %x, %x, %y; add.u32 %x, %x, %i;")
            case ("store",):
                add("ld.global.u32 %v, [%kept]; add.u32 %v, %v, %x; st.global.u32 [%kept], %v;")
            case ("if", m, r, then, otherwise):
                alternative, done = source.label(), source.label()
                add(f"add.u32 %v, %x, %i; rem.u32 %v, %v, {m}; setp.ne.u32 %p, %v, {r};")
                add(f"@%p bra {alternative};")
                emit(source, then, depth)
                add(f"bra {done}; {alternative}:")
                emit(source, otherwise, depth)
                add(f"{done}:")
            case ("loop", m, body):
                again, done = source.label(), source.label()
                add(f"add.u32 %v, %y, %i; rem.u32 %n{depth}, %v, {m};")
                add(f"{again}: setp.eq.u32 %p, %n{depth}, 0; @%p bra {done};")
                emit(source, body, depth + 1)
                add(f"sub.u32 %n{depth}, %n{depth}, 1; bra {again}; {done}:")
            case ("leave", m, r):
                add(f"add.u32 %v, %x, %i; rem.u32 %v, %v, {m}; setp.eq.u32 %p, %v, {r};")
                add("@%p bra FINISH;")


class Left(Exception):
    """The lane has left the program."""


def compute(program: list[tuple], lane: int, state: list[int]) -> None:  # type: ignore[type-arg]
    """Run a program for one lane; ``state`` is ``[x, y, kept]``."""
    word = (1 << 32) - 1
    for statement in program:
        x, y, kept = state
        match statement:
            case ("add", n):
                state[0] = (x + n) & word
            case ("mul", n):
                state[1] = (y * n + x) & word
            case ("mix",):
                state[0] = ((x ^ y) + lane) & word
            case ("store",):
                state[2] = (kept + x) & word
            case ("if", m, r, then, otherwise):
                compute(then if ((x + lane) & word) % m == r else otherwise, lane, state)
            case ("loop", m, body):
                for _ in range(((y + lane) & word) % m):
                    compute(body, lane, state)
            case ("leave", m, r):
                if ((x + lane) & word) % m == r:
                    raise Left


def kernel(program: list[tuple]) -> str:  # type: ignore[type-arg]
    source = Source()
    emit(source, program)
    body = "\n".join(source.lines)
    return f"""
    .visible .entry test(.param .u64 a, .param .u64 b, .param .u64 kept)
    {{
        .reg .pred %p; .reg .b32 %i, %k, %m, %x, %y, %v, %n<8>; .reg .b64 %a, %b, %kept;
        mov.u32 %i, %tid.x; mov.u32 %k, %ctaid.x; mov.u32 %m, %ntid.x; mad.lo.u32 %i, %k, %m, %i;
        ld.param.u64 %a, [a]; mad.wide.u32 %a, %i, 4, %a;
        ld.param.u64 %b, [b]; mad.wide.u32 %b, %i, 4, %b;
        ld.param.u64 %kept, [kept]; mad.wide.u32 %kept, %i, 4, %kept;
        mov.u32 %x, %i; mov.u32 %y, 7;
        {body}
    FINISH:
        st.global.u32 [%a], %x;
        st.global.u32 [%b], %y;
        ret;
    }}
    """


def expected(program: list[tuple]) -> list[list[int]]:  # type: ignore[type-arg]
    states = []
    for lane in range(LANES):
        state = [lane, 7, 0]
        with contextlib.suppress(Left):
            compute(program, lane, state)
        states.append(state)
    return [list(column) for column in zip(*states, strict=True)]


def run(program: list[tuple], block: int) -> list[list[int]]:  # type: ignore[type-arg]
    device = Device(kernel(program))
    buffers = [device.buffer(np.zeros(LANES, "u4")) for _ in range(3)]
    device.launch("test", (LANES // block,), (block,), *buffers)
    return [[int(v) for v in device.read(buffer, "u4", LANES)] for buffer in buffers]


@settings(max_examples=120)
@given(statements(2), st.sampled_from([12, 32, 96]))
def test_any_program(program: list[tuple], block: int) -> None:  # type: ignore[type-arg]
    assert run(program, block) == expected(program)


def test_batches_of_a_few_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    program = [("loop", 7, [("if", 3, 1, [("mul", 3)], [("add", 5), ("store",)]), ("mix",)])]
    for lanes in (1, 30, 50):
        monkeypatch.setattr(launch_module, "_LARGEST_BATCH", lanes)
        monkeypatch.setattr(launch_module, "_SMALLEST_BATCH", lanes)
        assert run(program, 12) == expected(program)


COUNT_DOWN = """
.visible .entry test(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %i, %n, %s; .reg .b64 %a;
    mov.u32 %i, %tid.x;
    ld.param.u64 %a, [out];
    mad.wide.u32 %a, %i, 4, %a;
    mul.lo.u32 %n, %i, 50;
    mov.u32 %s, 0;
again:
    add.u32 %s, %s, %n;
    sub.u32 %n, %n, 1;
    setp.gt.s32 %p, %n, 0;
    @%p bra again;
    st.global.u32 [%a], %s;
    ret;
}
"""


def test_lanes_that_drop_out_of_a_loop_one_by_one() -> None:
    device = Device(COUNT_DOWN)
    out = device.buffer(np.zeros(64, "i4"))
    device.launch("test", (1,), (64,), out)
    assert list(device.read(out, "i4", 64)) == [n * (n + 1) // 2 for n in range(0, 3200, 50)]


def test_registers_of_all_sizes_as_arguments_and_results_of_parameters() -> None:
    device = Device(
        """
        .func (.param .f64 r) sum(
            .param .u64 a, .param .f32 b, .param .s16 c, .param .align 8 .b8 d[8]
        )
        {
            .reg .f64 %f<4>; .reg .f32 %b; .reg .b16 %c; .reg .b64 %a;
            ld.param.u64 %a, [a];
            cvt.rn.f64.u64 %f0, %a;
            ld.param.f32 %b, [b];
            cvt.f64.f32 %f1, %b;
            ld.param.s16 %c, [c];
            cvt.rn.f64.s16 %f2, %c;
            ld.param.f64 %f3, [d];
            add.f64 %f0, %f0, %f1;
            add.f64 %f0, %f0, %f2;
            add.f64 %f0, %f0, %f3;
            st.param.f64 [r], %f0;
            ret;
        }
        .visible .entry test(.param .u64 out)
        {
            .reg .b32 %i; .reg .b64 %a, %x; .reg .f32 %b; .reg .b16 %c; .reg .f64 %r; .reg .pred %p;
            .param .align 8 .b8 d[8];
            mov.u32 %i, %tid.x;
            mul.wide.u32 %x, %i, 0x40000000;
            cvt.rn.f32.u32 %b, %i;
            mul.f32 %b, %b, 0f3E800000;
            mov.b16 %c, -300;
            st.param.f64 [d], 0d3FE0000000000000;
            mov.f64 %r, 0d0000000000000000;
            setp.lt.u32 %p, %i, 5;
            @%p bra over;
            call (%r), sum, (%x, %b, %c, d);
        over:
            ld.param.u64 %a, [out];
            mad.wide.u32 %a, %i, 8, %a;
            st.global.f64 [%a], %r;
            ret;
        }
        """
    )
    out = device.buffer(np.zeros(40, "f8"))
    device.launch("test", (1,), (40,), out)
    lane = np.arange(40)
    wanted = np.where(lane < 5, 0, lane * 2.0**30 + lane / 4 - 300 + 0.5)
    assert list(device.read(out, "f8", 40)) == list(wanted)


def test_exit_in_a_function_ends_the_thread() -> None:
    device = Device(
        """
        .func stop(.reg .b32 %n)
        {
            .reg .pred %p;
            setp.lt.u32 %p, %n, 10;
            @%p exit;
            ret;
        }
        .visible .entry test(.param .u64 out)
        {
            .reg .b32 %i; .reg .b64 %a;
            mov.u32 %i, %tid.x;
            call stop, (%i);
            ld.param.u64 %a, [out];
            mad.wide.u32 %a, %i, 4, %a;
            st.global.u32 [%a], 1;
            ret;
        }
        """
    )
    out = device.buffer(np.zeros(32, "i4"))
    device.launch("test", (1,), (32,), out)
    assert list(device.read(out, "i4", 32)) == [0] * 10 + [1] * 22


def test_what_is_the_same_for_all_lanes_is_computed_once() -> None:
    device = Device(COUNT_DOWN.replace("mad.wide.u32 %a, %i, 4, %a;", "add.u64 %a, %a, 0;"))
    roles = {slot.name: slot.role for slot in device.program.code["test"].slots}
    assert roles["%i"] is Role.REGISTER
    assert roles["%n"] is Role.REGISTER  # written twice
    device = Device(
        COUNT_DOWN.replace(
            "ld.param.u64 %a, [out];\n    mad.wide.u32 %a, %i, 4, %a;", "ld.param.u64 %a, [out];"
        )
    )
    roles = {slot.name: slot.role for slot in device.program.code["test"].slots}
    assert roles["%a"] is Role.CONSTANT
