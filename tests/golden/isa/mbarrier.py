"""Cases of barrier objects: each thread has one of its own, so that nobody's order matters."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case

_LANES = 4  # they all see the same
_GENERIC = "cvt.u64.u32 %w7, %s; cvta.shared.u64 %w7, %w7; "
_PENDING = "mbarrier.pending_count.b64"
_EVEN, _ODD = (f"mbarrier.test_wait.parity.shared.b64 %d{n}, [%s], {n};" for n in (0, 1))
_WAIT = "waiting: mbarrier.try_wait.parity.shared.b64 %p0, [%s], 0; @!%p0 bra waiting; "


def _init(count: int) -> str:
    return f"mbarrier.init.shared.b64 [%s], {count}; "


def mbarrier() -> Iterator[Case]:
    """``mbarrier`` in all its forms, and the copies that report to an object."""
    yield from _arrivals()
    yield from _transactions()
    yield from _waits()
    yield from _copies()


def _case(name: str, text: str, *results: str) -> Case:
    # An object must be invalidated before its place is used anew, here by the next case.
    return Case(name, f"{text} mbarrier.inval.shared.b64 [%s];", (), results, lanes=_LANES)


def _arrivals() -> Iterator[Case]:
    """What is pending before and after an arrival, and whether the phase has passed."""
    for how in ("arrive", "arrive_drop"):
        for kind, operand in (("", ""), ("", ", 3"), (".noComplete", ", 2"), (".expect_tx", ", 0")):
            for where in ("", ".release.cta", ".relaxed.cluster"):
                if kind == ".noComplete" and "relaxed" in where:
                    continue  # the two do not go together
                name = f"mbarrier.{how}{kind}{where}.shared.b64"
                text = f"{_init(7)}{name} %w0, [%s]{operand}; {_PENDING} %d2, %w0; "
                text += f"mbarrier.arrive.shared.b64 %w0, [%s]; {_PENDING} %d3, %w0; {_EVEN} {_ODD}"
                yield _case(f"{name}{operand}", text, "pred", "pred", "b32", "b32")
    for count in (2, 4):  # an object of 0 arrivals is none
        text = _init(count) + "mbarrier.arrive_drop.shared.b64 %w0, [%s]; "
        text += "mbarrier.arrive.shared.b64 _, [%s]; " * (count - 1)
        for number in range(2, count + 1):
            text += f"mbarrier.arrive.shared.b64 %w0, [%s]; {_PENDING} %t{number}, %w0; "
        text += f"mov.b32 %d2, %t2; {_EVEN} {_ODD}"
        yield _case(f"mbarrier.arrive_drop, then the next phase of {count}", text,
                    "pred", "pred", "b32")  # fmt: skip
    for space in (".shared::cta", ".shared::cluster"):
        text = f"{_init(2)}mbarrier.arrive.release.cluster{space}.b64 _, [%s], 2; {_EVEN} {_ODD}"
        yield _case(f"mbarrier.arrive{space}", text, "pred", "pred")
    text = f"{_GENERIC}mbarrier.init.b64 [%w7], 3; mbarrier.arrive.b64 %w0, [%w7], 2; "
    text += f"{_PENDING} %d0, %w0; mbarrier.arrive.b64 %w1, [%w7]; {_PENDING} %d1, %w1; "
    text += f"mbarrier.test_wait.b64 %d2, [%w7], %w0; mbarrier.inval.b64 [%w7]; {_init(1)}"
    yield _case("mbarrier, generic addresses", text, "b32", "b32", "pred")


def _transactions() -> Iterator[Case]:
    """Bytes that are expected and that have come, in either order."""
    for where in ("", ".relaxed.cta", ".relaxed.cluster"):
        for space in (".shared", ".shared::cta", ".shared::cluster"):
            end = f"{where}{space}.b64"
            text = f"{_init(1)}mbarrier.expect_tx{end} [%s], 48; mbarrier.arrive.shared.b64 _, "
            text += f"[%s]; {_EVEN} mbarrier.complete_tx{end} [%s], 48; {_ODD}"
            yield _case(f"mbarrier.expect_tx{end}", text, "pred", "pred")
    text = f"{_init(1)}mbarrier.complete_tx.shared.b64 [%s], 32; "
    text += f"mbarrier.arrive.expect_tx.shared.b64 %w0, [%s], 32; {_EVEN} {_ODD}"
    yield _case("mbarrier.complete_tx before expect_tx", text, "pred", "pred")


def _waits() -> Iterator[Case]:
    """Both kinds of waiting, in the phase and after it."""
    for kind in ("test_wait", "try_wait"):
        for where in ("", ".acquire.cta", ".acquire.cluster", ".relaxed.cta"):
            name = f"mbarrier.{kind}{where}.shared.b64"
            text = f"{_init(2)}mbarrier.arrive.shared.b64 %w0, [%s]; mbarrier.test_wait.shared.b64 "
            text += f"%d0, [%s], %w0; mbarrier.arrive.shared.b64 %w1, [%s]; {name} %d1, [%s], %w0;"
            yield _case(name, text, "pred", "pred")
            name = f"mbarrier.{kind}.parity{where}.shared::cta.b64"
            text = f"{_init(1)}{name} %d0, [%s], 1; mbarrier.arrive.shared.b64 _, [%s]; "
            text += f"{name} %d1, [%s], 0;"
            yield _case(name, text, "pred", "pred")
    text = f"{_init(1)}mbarrier.try_wait.parity.shared.b64 %d0, [%s], 0, 10; "
    text += "mbarrier.try_wait.parity.shared.b64 %d1, [%s], 1, 10;"
    yield _case("mbarrier.try_wait with a time", text, "pred", "pred")


def _copies() -> Iterator[Case]:
    """Asynchronous copies that arrive, and bulk copies whose bytes are counted."""
    fill = "st.global.v4.b32 [%g], {1, 20, 300, 4000}; "
    read = "ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%s+16];"
    for noinc in ("", ".noinc"):
        for space in (".shared", ".shared::cta"):
            name = f"cp.async.mbarrier.arrive{noinc}{space}.b64"
            text = f"{_init(1)}{fill}cp.async.ca.shared.global [%s+16], [%g], 16; {name} [%s]; "
            text += ("" if noinc else "mbarrier.arrive.shared.b64 _, [%s]; ") + _WAIT + read
            yield _case(name, text, *("b32",) * 4)
    expect = "mbarrier.arrive.expect_tx.shared.b64 _, [%s], 16; "
    for to in ("shared::cluster", "shared::cta"):
        for hint, policy in (("", ""), (".L2::cache_hint", ", %w1")):
            name = f"cp.async.bulk.{to}.global.mbarrier::complete_tx::bytes{hint}"
            text = f"{_init(1)}createpolicy.fractional.L2::evict_first.b64 %w1; {fill}"
            text += "fence.proxy.async.global; fence.mbarrier_init.release.cluster; "
            text += f"{name} [%s+16], [%g], 16, [%s]{policy}; "
            yield _case(name, text + expect + _WAIT + read, *("b32",) * 4)
    put = "st.shared.v4.b32 [%s+32], {5, 60, 700, 8000}; fence.proxy.async.shared::cta; "
    for hint, policy in (("", ""), (".L2::cache_hint", ", %w1")):
        name = f"cp.async.bulk.global.shared::cta.bulk_group{hint}"
        text = f"{_init(1)}createpolicy.fractional.L2::evict_first.b64 %w1; {put}"
        text += f"{name} [%g], [%s+32], 16"
        text += f"{policy}; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; "
        text += "cp.async.bulk.wait_group 0; fence.proxy.async.global; "
        text += "ld.global.v4.b32 {%d0, %d1, %d2, %d3}, [%g];"
        yield _case(name, text, *("b32",) * 4)
