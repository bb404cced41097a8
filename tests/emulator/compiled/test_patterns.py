"""Accesses of lanes in a row, of one address, and of other patterns, on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.compiled.engines import check_equal, check_equal_fault

SIZES = {"u8": 1, "v4.u8": 4, "u16": 2, "u32": 4, "v2.u32": 8, "v4.u32": 16, "u64": 8, "v2.u64": 16}
BUFFER = 512 + 32

# Each thread copies from `in` to `out`, both at the offset that it finds in `places`.
COPY = """.visible .entry copy(.param .u64 out, .param .u64 in, .param .u64 places) {
    .reg .b64 %a<8>; .reg .b32 %r<2>; .reg .TYPE %v<4>;
    ld.param.u64 %a0, [out]; ld.param.u64 %a1, [in]; ld.param.u64 %a2, [places];
    mov.u32 %r0, %tid.x; mul.wide.u32 %a3, %r0, 8; add.u64 %a2, %a2, %a3;
    ld.SPACEu64 %a4, [%a2]; add.u64 %a0, %a0, %a4; add.u64 %a1, %a1, %a4;
    ld.SPACEVECTOR VALUES, [%a1]; st.SPACEVECTOR [%a0], VALUES; ret;
}"""


def copy(kind: str, space: str = "global.") -> str:
    """The kernel for a type of memory."""
    vector, _, plain = kind.rpartition(".")
    names = ["%v0", "%v1", "%v2", "%v3"][: int(vector[1:] or 1) if vector else 1]
    values = names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"
    width = plain if plain != "u8" else "u16"
    text = COPY.replace("TYPE", width).replace("VECTOR", kind).replace("VALUES", values)
    return text.replace("SPACE", space)


def offsets(size: int, pattern: str) -> np.ndarray:
    """The places of 32 lanes in a buffer, of accesses of some bytes."""
    lane = np.arange(32)
    return {
        "row": lane * size,
        "halves": lane % 16 * size,
        "uniform": np.full(32, 7 * size),
        "uniform halves": lane // 16 * size,
        "reversed": lane[::-1] * size,
        "other": lane * 5 % 32 * size,
        "last": lane * size + BUFFER - 32 * size,
    }[pattern].astype(np.uint64)


PATTERNS = ("row", "halves", "uniform", "uniform halves", "reversed", "other", "last")


@pytest.mark.parametrize("kind", SIZES)
def test_results(kind: str) -> None:
    given = np.random.default_rng(1).integers(0, 256, BUFFER, np.uint8)
    for threads in (32, 19):
        for pattern in PATTERNS:
            places = offsets(SIZES[kind], pattern)
            out, *_ = check_equal(copy(kind), (1,), (threads,), np.zeros_like(given), given, places)
            rows = places[:threads, None].astype(int) + np.arange(SIZES[kind])
            wanted = np.zeros_like(given)
            wanted[rows] = given[rows]
            assert out == wanted.tobytes(), (pattern, threads)


@pytest.mark.parametrize("shift", [-4, 4, 2, 1 << 40, -(1 << 40), 2 << 62])
@pytest.mark.parametrize("pattern", ["row", "uniform", "last"])
def test_faults(pattern: str, shift: int) -> None:
    given = np.zeros(BUFFER, np.uint8)
    places = offsets(4, pattern).astype(object)
    if pattern == "uniform":
        places += BUFFER - 8 * 4 if shift > 0 else -7 * 4
    if pattern == "row" and shift > 0:
        places += BUFFER - 32 * 4
    moved = np.array([(each + shift) % (1 << 64) for each in places], np.uint64)
    if (pattern, shift) == ("last", -4):
        check_equal(copy("u32"), (1,), (32,), np.zeros_like(given), given, moved)
    else:
        check_equal_fault(copy("u32"), (1,), (32,), np.zeros_like(given), given, moved)


LOCAL = """.visible .entry local(.param .u64 out) {
    .local .align 8 .b8 stack[256]; .reg .b64 %a<8>; .reg .b32 %r<4>;
    ld.param.u64 %a0, [out]; mov.u32 %r0, %tid.x; mov.u64 %a1, stack; cvta.local.u64 %a1, %a1;
    mul.wide.u32 %a2, %r0, STEP; add.u64 %a2, %a2, %a1; mov.u32 %r3, 0; st.u32 [%a1], %r3;
    st.u32 [%a2], %r0; ld.u32 %r1, [%a2]; ld.u32 %r2, [%a1]; add.u32 %r1, %r1, %r2;
    mul.wide.u32 %a3, %r0, 4; add.u64 %a0, %a0, %a3; st.u32 [%a0], %r1; ret;
}"""


@pytest.mark.parametrize("step", [0, 4])
def test_generic_addresses_of_local_memory(step: int) -> None:
    out, *_ = check_equal(LOCAL.replace("STEP", str(step)), (1,), (32,), np.zeros(32, np.uint32))
    lane = np.arange(32)
    first = lane if step == 0 else np.zeros(32, int)
    assert np.array_equal(np.frombuffer(out, np.uint32), lane + first)


# Each active thread adds the operand of its lane at its place.
REDUCE = """
.visible .entry reduce(.param .u64 sums, .param .u64 given, .param .u64 places, .param .u32 n) {
    .reg .b64 %a<8>; .reg .b32 %r<2>; .reg .uBITS %v; .reg .pred %p;
    ld.param.u64 %a0, [sums]; ld.param.u64 %a1, [given]; ld.param.u64 %a2, [places];
    ld.param.u32 %r1, [n]; mov.u32 %r0, %tid.x; mul.wide.u32 %a3, %r0, 8;
    add.u64 %a1, %a1, %a3; add.u64 %a2, %a2, %a3;
    ld.global.uBITS %v, [%a1]; ld.global.u64 %a4, [%a2]; add.u64 %a0, %a0, %a4;
    setp.lt.u32 %p, %r0, %r1; @%p red.global.add.uBITS [%a0], %v; ret;
}"""


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(
    ("active", "step", "apart"), [(32, 0, 5), (32, 1, 5), (32, 0, 0), (19, 0, 1)]
)
def test_reductions(bits: int, active: int, step: int, apart: int) -> None:
    given = np.uint64(3) + np.arange(32, dtype=np.uint64) * np.uint64(step)
    places = 8 * (np.arange(32, dtype=np.uint64) * np.uint64(apart) % np.uint64(24))
    wanted = np.zeros(24, np.uint64)
    np.add.at(wanted, places[:active] // 8, given[:active])
    places[active:] = 1 << 40  # invalid, of threads that are not active
    text = REDUCE.replace("BITS", str(bits))
    sums, *_ = check_equal(text, (1,), (32,), np.zeros_like(wanted), given, places, active)
    assert sums == wanted.tobytes()
