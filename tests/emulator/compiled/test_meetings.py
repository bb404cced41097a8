"""Warp-synchronous instructions that lanes execute in several branches, as one: on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.compiled.control import warp_code
from cudarun.emulator.engines import COMPILE, INTERPRET
from tests.emulator.compiled.engines import check_equal, check_equal_fault, launched

HEAD = """.visible .entry test(.param .u64 out) {
    .reg .b32 %i, %l, %v, %r, %s, %m, %k; .reg .b64 %o, %w; .reg .pred %p, %q, %e;
    ld.param.u64 %o, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %w, %i, 4; add.u64 %o, %o, %w;
    mov.u32 %l, %laneid; mad.lo.u32 %v, %i, 10, 3; mov.u32 %r, 0; mov.u32 %m, -1; mov.u32 %k, 0;
"""
TAIL = "st.global.u32 [%o], %r; ret; }"
THREADS = 64
TID = np.arange(THREADS)
LANE, WARP = TID % 32, TID // 32 * 32
VALUE = 10 * TID + 3


def branches(first: str, second: str, condition: str = "setp.lt.u32 %p, %l, 12;") -> str:
    return f"""{HEAD} {condition} @%p bra second;
    {first} bra done;
    second: {second}
    done: {TAIL}"""


def check(text: str, wanted: np.ndarray) -> None:
    (found,) = check_equal(text, (1,), (THREADS,), np.zeros(THREADS, "u4"))
    assert list(np.frombuffer(found, "u4")) == list(np.asarray(wanted, "u4"))


LOW = LANE < 12
SHUFFLES = {
    "idx": (
        "add.u32 %s, %l, 31; shfl.sync.idx.b32 %r, %v, %s, 31, %m; add.u32 %r, %r, 1000;",
        "add.u32 %s, %l, 1; shfl.sync.idx.b32 %r|%q, %v, %s, 31, -1;",
        VALUE[WARP + np.where(LOW, LANE + 1, LANE - 1)] + np.where(LOW, 0, 1000),
    ),
    "bfly": (
        "shfl.sync.bfly.b32 %r, %v, 16, 31, -1;",
        "add.u32 %v, %v, 5; shfl.sync.bfly.b32 %r, %v, 16, 31, -1;",
        (VALUE + 5 * LOW)[WARP + (LANE ^ 16)],
    ),
    "up": (
        "shfl.sync.up.b32 %r, %v, 3, 0, -1;",
        "mov.u32 %s, 1; shfl.sync.up.b32 %r|%q, %v, %s, 0, -1; @!%q mov.u32 %r, 77;",
        np.where(
            LOW,
            np.where(LANE < 1, 77, VALUE[np.maximum(TID - 1, 0)]),
            VALUE[np.maximum(TID - 3, 0)],
        ),
    ),
}


@pytest.mark.parametrize("mode", SHUFFLES)
def test_shuffles(mode: str) -> None:
    first, second, wanted = SHUFFLES[mode]
    check(branches(first, second), wanted)


def bits(true: np.ndarray) -> np.ndarray:
    words = [sum(1 << lane for lane in range(32) if true[w + lane]) for w in (0, 32)]
    return np.array([words[0]] * 32 + [words[1]] * 32, dtype="u4")


OTHERS = {
    "ballot": (
        "setp.gt.u32 %q, %l, 20; vote.sync.ballot.b32 %r, %q, -1;",
        "setp.gt.u32 %q, %l, 5; vote.sync.ballot.b32 %r, !%q, -1; add.u32 %r, %r, 1;",
        bits(np.where(LOW, LANE <= 5, LANE > 20)) + LOW,
    ),
    "all": (
        "setp.ge.u32 %q, %l, 12; vote.sync.all.pred %e, %q, -1; selp.u32 %r, 1, 2, %e;",
        "setp.lt.u32 %q, %i, 12; vote.sync.all.pred %e, %q, -1; selp.u32 %r, 3, 4, %e;",
        np.where(LOW, np.where(WARP == 0, 3, 4), np.where(WARP == 0, 1, 2)),
    ),
    "match": (
        "and.b32 %s, %l, 3; match.any.sync.b32 %r, %s, -1;",
        "mov.u32 %s, 2; match.any.sync.b32 %r, %s, -1;",
        [
            sum(
                1 << n
                for n in range(32)
                if (2 if n < 12 else n & 3) == (2 if lane < 12 else lane & 3)
            )
            for lane in LANE.tolist()
        ],
    ),
    "reduction": (
        "redux.sync.add.u32 %r, %l, -1;",
        "add.u32 %s, %l, 100; redux.sync.add.u32 %r, %s, -1; neg.s32 %r, %r;",
        np.where(LOW, -(496 + 1200), 496 + 1200).astype("i4").view("u4"),
    ),
    "election": (
        "elect.sync _|%q, -1; selp.u32 %r, 1, 2, %q;",
        "elect.sync %s|%q, -1; selp.u32 %r, 3, 4, %q; add.u32 %r, %r, %s;",
        np.where(LOW, np.where(LANE == 0, 3, 4), 2),
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_votes_matches_and_reductions(kind: str) -> None:
    first, second, wanted = OTHERS[kind]
    check(branches(first, second), wanted)


TREE = " ".join(
    f"shfl.sync.bfly.b32 %s, %r, {step}, 31, -1; add.u32 %r, %r, %s;" for step in (16, 8, 4, 2, 1)
)


@pytest.mark.parametrize("is_large", [False, True])
def test_sums_in_both_branches(is_large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_large:
        monkeypatch.setattr(warp_code, "_MOST_INLINE", 0)
    odd = "and.b32 %s, %l, 1; setp.eq.u32 %p, %s, 1;"
    first, second = f"mov.u32 %r, %v; {TREE}", f"mov.u32 %r, 1; {TREE} mul.lo.u32 %r, %r, 3;"
    sums = np.where(LANE % 2, 1, VALUE).reshape(2, 32).sum(axis=1).repeat(32)
    check(branches(first, second, odd), np.where(LANE % 2, 3 * sums, sums))


def test_three_places_in_a_loop_and_lanes_that_end() -> None:
    text = f"""{HEAD} setp.ge.u32 %p, %l, 30; @%p ret;
    again: rem.u32 %s, %k, 3; rem.u32 %m, %l, 3; add.u32 %r, %r, %k;
        setp.eq.u32 %p, %s, %m; @%p bra second; setp.lt.u32 %p, %s, %m; @%p bra third;
        shfl.sync.bfly.b32 %s, %r, 1, 31, -1; add.u32 %r, %r, %s; bra next;
    second: shfl.sync.bfly.b32 %s, %v, 1, 31, -1; xor.b32 %r, %r, %s; bra next;
    third: add.u32 %v, %v, %r; shfl.sync.bfly.b32 %s, %v, 1, 31, -1; mad.lo.u32 %r, %s, 3, %r;
    next: add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 20; @%p bra again;
    {TAIL}"""
    r, v = np.zeros(THREADS, "u8"), VALUE.astype("u8")
    other = TID ^ 1
    for k in range(20):
        r = r + k
        s, m = k % 3, LANE % 3
        v = np.where(s < m, v + r & 0xFFFFFFFF, v)
        given = np.where(s > m, r, v)[other]
        r = np.where(s > m, r + given, np.where(s == m, r ^ given, r + 3 * given)) & 0xFFFFFFFF
    check(text, np.where(LANE < 30, r, 0))


def test_lanes_that_wait_for_the_result_of_those_that_meet() -> None:
    text = f"""{HEAD.replace(".reg .b32", ".shared .align 4 .b32 flag; .reg .b32")}
        mov.u32 %s, 0; st.shared.u32 [flag], %s; bar.sync 0;
        setp.ge.u32 %p, %i, 8; @%p bra poll;
        setp.lt.u32 %p, %i, 3; @%p bra second;
        shfl.sync.bfly.b32 %r, %v, 4, 31, 255; bra set;
    second: shfl.sync.bfly.b32 %r, %v, 4, 31, 255; add.u32 %r, %r, 100;
    set: setp.ne.u32 %p, %i, 0; @%p bra done;
        st.volatile.shared.u32 [flag], %r; bra done;
    poll: ld.volatile.shared.u32 %r, [flag]; setp.eq.u32 %p, %r, 0; @%p bra poll;
    done: {TAIL}"""
    first = np.arange(8)
    met = VALUE[first ^ 4] + np.where(first < 3, 100, 0)
    check(text, np.concatenate([met, np.full(THREADS - 8, met[0])]))


APART = {
    "modes": ("shfl.sync.up.b32 %r, %v, 1, 0, -1;", "shfl.sync.down.b32 %r, %v, 1, 31, -1;"),
    "kinds": ("vote.sync.any.pred %q, 1, -1;", "redux.sync.add.u32 %r, %l, -1;"),
    "masks": (
        "shfl.sync.bfly.b32 %r, %v, 1, 31, -1;",
        "shfl.sync.bfly.b32 %r, %v, 1, 31, 0x7fffffff;",
    ),
    "a barrier": ("bar.warp.sync -1;", "vote.sync.any.pred %q, 1, -1;"),
    "counts": (
        "shfl.sync.bfly.b32 %r, %v, 1, 31, -1; shfl.sync.bfly.b32 %r, %r, 1, 31, -1; trap;",
        "shfl.sync.bfly.b32 %r, %v, 1, 31, -1; bar.sync 0;",
    ),
}


@pytest.mark.parametrize("what", APART)
def test_different_instructions_are_a_deadlock(what: str) -> None:
    report = check_equal_fault(branches(*APART[what]), (1,), (THREADS,), np.zeros(THREADS, "u4"))
    assert "deadlock" in report


@pytest.mark.parametrize("engine", [INTERPRET, COMPILE])
def test_a_source_that_does_not_exist_is_zero(engine: str) -> None:
    text = f"{HEAD} shfl.sync.bfly.b32 %r, %v, 16, 31, -1; add.u32 %r, %r, %v; {TAIL}"
    (found,), _, _ = launched(text, engine, (1,), (20,), np.zeros(20, "u4"))
    lanes = np.arange(20)
    own, other = 10 * lanes + 3, np.where(lanes ^ 16 < 20, 10 * (lanes ^ 16) + 3, 0)
    assert list(np.frombuffer(found, "u4")) == list(own + other)
