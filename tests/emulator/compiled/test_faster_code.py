"""Code that a kernel has first, and the code that takes over from it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from cudarun.emulator.compiled import engine
from cudarun.emulator.engines import AUTO, COMPILE, INTERPRET
from cudarun.emulator.machine import launch as launches
from cudarun.emulator.memory import Memory
from tests.emulator.compiled.engines import device
from tests.emulator.compiled.sums import PLAIN, SMALL, delayed, launched
from tests.support.tiers import eager


@pytest.mark.parametrize("asked", [1, 3])
def test_faster_code_takes_over_between_blocks(monkeypatch: pytest.MonkeyPatch, asked: int) -> None:
    """It is ready when the launch first asks for it, or after two blocks of the other code."""
    parts = delayed(monkeypatch, asked)
    found, (note,) = launched(PLAIN, AUTO, 100, 1, eager(improved=0))
    assert found == launched(PLAIN, INTERPRET, 100)[0]
    assert (note.engine, note.reason) == (COMPILE, "")
    assert parts == [[(False, 0)], [(True, 0), (False, 2)]][asked > 1]


def test_compile_waits_for_faster_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever `auto` has compiled of the kernel before, and is compiling."""
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    for improved in (1e30, 0):
        monkeypatch.setattr(engine, "_compilations", {})
        with monkeypatch.context() as patch:
            parts = delayed(patch, 10000)
            launched(PLAIN, AUTO, 100, 1, eager(improved=improved))
            launched(PLAIN, COMPILE, 100)
        assert parts == [(True, 0), (False, 0)]


def test_launches_on_two_devices_compile_a_kernel_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One asks while the other one compiles; it waits, and has the same code."""
    texts: list[str] = []
    others: list[threading.Thread] = []
    complete, objects = engine.KernelCompilation.complete, engine.interruptible_object_files

    def completed(compilation: engine.KernelCompilation) -> None:
        others.append(threading.Thread(target=complete, args=[compilation]))
        complete(compilation)

    def compiled(text: str) -> list[bytes]:
        if not texts:
            others[0].start()
        texts.append(text)
        return objects(text)

    monkeypatch.setattr(engine.KernelCompilation, "complete", completed)
    monkeypatch.setattr(engine, "interruptible_object_files", compiled)
    monkeypatch.setattr(engine, "_compilations", {})
    launched(PLAIN, COMPILE, 1)
    others[0].join()
    assert len(texts) == 1


def test_what_compiled_code_runs_counts_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    tiers = eager(improved=1e30)
    launched(PLAIN, AUTO, 100, 1, tiers)
    (tier,) = tiers._tiers.values()
    for_each = tier._compiled_work / len(tier.function.operations)
    assert for_each > 0
    tiers = eager(improved=1.5 * for_each)
    made, _ = device(PLAIN, AUTO, tiers=tiers)
    place = made.buffer(np.zeros(6400, "u4"))
    slower = []
    for _ in range(2):
        made.launch("sums", (100,), (64,), place)
        (tier,) = tiers._tiers.values()
        assert tier._compilation is not None
        assert tier._compilation.kernel is not None
        slower.append(tier._compilation.kernel.code.is_large)
    assert slower == [True, False]


SYSTEM = """.visible .entry sums(.param .u64 out) {
    .reg .b64 %a; ld.param.u64 %a, [out]; red.global.sys.add.u32 [%a], 1; ret;
}"""


@pytest.mark.parametrize(
    ("text", "shares", "used"),
    [
        (SYSTEM, True, COMPILE),
        (SYSTEM, False, INTERPRET),
        (SYSTEM.replace("sys", "gpu"), True, INTERPRET),
    ],
)
def test_operations_that_the_program_shares_are_compiled_first(
    text: str, shares: bool, used: str
) -> None:
    made, engines = device(text, AUTO)
    if shares:
        other = Memory(1 << 40, 1 << 20)
        other.allocate(16)
        made.others.append(other)
    place = made.buffer(np.zeros(1, "u4"))
    made.launch("sums", (2,), (32,), place)
    assert made.read(place, "u4", 1)[0] == 64
    assert engines.notes["sums"].engine == used


def test_kernels_that_are_compiled_first_have_faster_code_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next launch does not wait for it."""
    tiers = eager(improved=1e30)
    tiers.waits = False
    made, _ = device(SYSTEM, AUTO, tiers=tiers)
    other = Memory(1 << 40, 1 << 20)
    other.allocate(16)
    made.others.append(other)
    place = made.buffer(np.zeros(1, "u4"))
    with monkeypatch.context() as patch:
        parts = delayed(patch, 10000)
        for _ in range(2):
            made.launch("sums", (2,), (32,), place)
    assert parts == [(True, 0)] * 2
    (tier,) = tiers._tiers.values()
    assert tier._compilation is not None
    tier._compilation.wait()
    made.launch("sums", (2,), (32,), place)
    assert tier._compilation.is_complete()
    assert made.read(place, "u4", 1)[0] == 192
