"""Registers and matrices of ``wgmma`` products before the wait for them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.detectors.findings import DetectorFinding
from cudarun.emulator.machine.schedules.schedule import Schedule
from tests.emulator.device import Device
from tests.emulator.test_detectors_proof import Proved

TEXT = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) {{
  .shared .align 1024 .b8 room[16384];
  .reg .b64 %o, %d, %w; .reg .b32 %t, %s, %h<5>; .reg .f32 %f<8>; .reg .pred %p, %q;
  ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %s, room;
  shr.u32 %h0, %s, 4; cvt.u64.u32 %d, %h0; or.b64 %d, %d, 0x4000004000080000;
  mad.lo.u32 %s, %t, 16, %s; mov.b32 %h0, 0x3C003C00; setp.ge.u32 %p, %t, 0;
  mov.b32 %h1, %h0; mov.b32 %h2, %h0; mov.b32 %h3, %h0;
  st.shared.v4.b32 [%s], {{%h0, %h1, %h2, %h3}};
  st.shared.v4.b32 [%s+2048], {{%h0, %h1, %h2, %h3}};
  st.shared.v4.b32 [%s+4096], {{%h0, %h1, %h2, %h3}};
  st.shared.v4.b32 [%s+6144], {{%h0, %h1, %h2, %h3}};
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  fence.proxy.async.shared::cta; bar.sync 0;
  {body}
  mul.wide.u32 %w, %t, 16; add.u64 %o, %o, %w;
  st.global.v4.f32 [%o], {{%f0, %f1, %f2, %f3}};
  ret;
}}
"""
BEGIN = "wgmma.fence.sync.aligned;"
TWICE = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, {}, %p, 1, 1{};"
PRODUCT = TWICE.format("%d, %d", ", 0, 0")
FROM_REGISTERS = TWICE.format("{%h0, %h1, %h2, %h3}, %d", ", 0")
COMMIT, WAIT = "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned {};"
ONE = BEGIN + PRODUCT + COMMIT
DONE = WAIT.format(0)
USE = "add.f32 %f4, %f0, %f1;"
LOOP = "mov.u32 %h4, 0; L: {} add.u32 %h4, %h4, 1; setp.lt.u32 %q, %h4, 3; @%q bra L;"


def found(body: str) -> list[DetectorFinding]:
    watch = DetectorObserver(["race"])
    results(body, observer=watch)
    return watch.findings


def results(
    body: str, seed: int | str | None = "usual", threads: int = 128, **options: object
) -> npt.NDArray[np.float32]:
    device = Device(TEXT.format(body=body), **options)  # type: ignore[arg-type]
    out = device.buffer(np.zeros(4 * threads, np.float32))
    schedule = None if isinstance(seed, str) else Schedule(seed)
    device.launch("k", (1,), (threads,), out, schedule=schedule)
    return device.read(out, np.float32, 4 * threads)


RIGHT = {
    "a wait": ONE + DONE + USE,
    "two products of the same registers": BEGIN + PRODUCT + PRODUCT + COMMIT + DONE,
    "two groups": ONE + ONE + WAIT.format(1) + DONE + USE,
    "a loop": LOOP.format(ONE + WAIT.format(1)) + DONE,
    "a wait in each round": LOOP.format(ONE + DONE + USE),
    "a copy": ONE + "mov.f32 %f5, %f0;" + DONE + "add.f32 %f4, %f5, %f1;",
    "a copy, and then a copy to its source": (
        "mov.f32 %f6, 0f3F800000;" + ONE + "mov.f32 %f5, %f0; mov.f32 %f0, %f6;" + DONE
        + "add.f32 %f4, %f5, %f1;"),
    "A is read": BEGIN + FROM_REGISTERS + COMMIT + "add.u32 %h4, %h0, 1;" + DONE,
    "A is written after the wait": BEGIN + FROM_REGISTERS + COMMIT + DONE + "mov.b32 %h0, 0;",
    "products and the wait of the first round": (
        LOOP.format("setp.eq.u32 %q, %h4, 0; @!%q bra N; " + ONE + DONE + " N:" + USE)),
    "a condition of both": (
        "setp.eq.u32 %q, %s, 0; @%q bra N;" + ONE + "N: @%q bra M; " + DONE + "M:" + USE),
}  # fmt: skip


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
def test_right_products(body: str) -> None:
    assert found(body) == []
    usual = results(body)
    assert usual.any()
    for seed in (None, 0, 1, 2):
        assert np.array_equal(results(body, seed), usual)


WRONG = {
    "no wait": (ONE + USE + DONE, "read", "add.f32"),
    "no group": (BEGIN + PRODUCT + DONE + USE, "read", "add.f32"),
    "a wait for too few groups": (ONE + WAIT.format(1) + USE + DONE, "read", "add.f32"),
    "in the next round": (LOOP.format(USE + ONE) + DONE, "read", "add.f32"),
    "a copy": (ONE + "mov.f32 %f5, %f0; add.f32 %f4, %f5, %f5;" + DONE, "read", "add.f32"),
    "the accumulator is written": (ONE + "mov.f32 %f0, 0f00000000;" + DONE, "write", "mov.f32"),
    "A is written": (
        BEGIN + FROM_REGISTERS + COMMIT + "mov.b32 %h0, 0;" + DONE, "write", "mov.b32"),
    "no wait at all": (ONE, "read", "st.global.v4.f32"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_wrong_products(case: tuple[str, str, str]) -> None:
    body, verb, use = case
    first, *_ = found(body)
    assert first.problem == f"no wgmma.wait_group before the {verb}"
    assert first.memory is not None
    assert first.memory.name.startswith("register %")
    assert [place.site.name.split(".")[0] for place in first.places] == ["wgmma", use.split(".")[0]]
    assert first.count % 128 == 0


def test_unoptimized_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilers store the results of each instruction in local memory: ptxas waits for them."""
    monkeypatch.setitem(globals(), "TEXT", TEXT.replace("sm_90a", "sm_90a, debug"))
    body = ONE + USE + DONE
    assert found(body) == []
    assert np.array_equal(results(body, None), results(body))


OVERWRITE = "mov.b32 %h4, 0x40004000; st.shared.v4.b32 [%s], {%h4, %h4, %h4, %h4};"


@pytest.mark.parametrize("threads", [128, 256])
def test_matrices_that_are_overwritten_before_the_wait(threads: int) -> None:
    """The right order has the same results in all schedules; the wrong one does not."""
    body = "setp.ge.u32 %q, %t, 128; @%q bra X; {} bra Y; X: add.u32 %h4, %h4, 1; Y:"
    right = body.format(ONE + DONE + OVERWRITE)
    wrong = body.format(ONE + OVERWRITE + DONE)
    usual = results(right, threads=threads)
    for seed in (None, *range(4)):
        assert np.array_equal(results(right, seed, threads), usual)
    assert not np.array_equal(results(wrong, None, threads), usual)
    assert any(not np.array_equal(results(wrong, seed, threads), usual) for seed in range(4))


@pytest.mark.parametrize("product", [PRODUCT, FROM_REGISTERS])
def test_matrices_that_are_being_copied(product: str) -> None:
    copy = "mul.wide.u32 %w, %t, 16; add.u64 %w, %o, %w; cp.async.ca.shared.global [%s], [%w], 16;"
    first = found(copy + "bar.sync 0;" + BEGIN + product + COMMIT + DONE)
    (race,) = (each for each in first if each.memory and each.memory.space == "shared")
    assert [place.access for place in race.places] == ["asynchronous store", "asynchronous load"]
    assert race.problem.startswith("no cp.async.wait_group of the copying thread")


def test_the_proof_of_groups_and_waits() -> None:
    """The registers of its products are observed in code without the removed instruction."""
    found = Proved(TEXT.format(body=ONE + DONE + USE), np.zeros(512, np.float32), block=128)
    assert found.races == []
    assert found.outcomes == [
        ("fence", "race"), ("barrier", "race"), ("commit", "race"), ("wgmma wait", "race")
    ]  # fmt: skip
    assert [each.race and each.race.problem for each in found.each][2:] == [
        "no wgmma.wait_group before the read"
    ] * 2
