"""Blocks on several cores: equal bits, the fault of the lowest block, and interruptions."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.base.machine import available_cores
from cudarun.emulator import engines as engines_module
from cudarun.emulator.compiled import access_cache, cores, queue
from cudarun.emulator.compiled.queue import BlockQueue
from cudarun.emulator.compiled.visible_order import are_blocks_independent
from cudarun.emulator.engines import COMPILE, INTERPRET, Engines
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.spaces import Region
from cudarun.emulator.program import ModuleCode
from tests.emulator.compiled.engines import device, launched
from tests.emulator.device import compiled

SAMPLES = Path("samples")

FAULTY = """.visible .entry faulty(.param .u64 out, .param .u32 first) {
    .reg .b32 %r<6>; .reg .b64 %a<3>; .reg .pred %p, %q;
    ld.param.u64 %a0, [out]; ld.param.u32 %r1, [first];
    mov.u32 %r0, %ctaid.x; mov.u32 %r2, 0;
L:  add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 2000;
    @%p bra L;
    setp.lt.u32 %q, %r0, %r1;
    @%q bra D;
    st.global.u32 [%a0+4096], %r2;
D:  ret;
}"""

# All blocks store; those from ``first`` on store again.
LATE_STORES = FAULTY.replace("D:", "").replace("@%q bra D;", "st.global.u32 [%a0], %r2; @%q ret;")


@pytest.fixture(autouse=True)
def four_threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let every launch of more than one block have four threads; return those that ran blocks."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2, 3})
    monkeypatch.setattr(engines_module, "_cores", available_cores)  # not those found before
    monkeypatch.setattr(cores, "_SECONDS_PER_THREAD", 1e-9)
    monkeypatch.setattr(queue, "TRIAL_SECONDS", 1e-5)
    monkeypatch.setattr(queue, "_COLD_SECONDS", 1e-5)
    monkeypatch.setattr(queue, "CHUNK_SECONDS", 1e-4)
    names: list[str] = []
    take = BlockQueue.take

    def noted(blocks: BlockQueue) -> tuple[int, int]:
        names.append(threading.current_thread().name)
        return take(blocks)

    monkeypatch.setattr(BlockQueue, "take", noted)
    return names


def run(
    text: str, threads: int, grid: tuple[int, ...], block: tuple[int, ...], *given: Any, kernel: str
) -> list[bytes]:
    """The buffers after a launch in a number of threads; 0 for the interpreter."""
    made, engines = device(text, COMPILE if threads else INTERPRET)
    engines.threads = threads
    places = [made.buffer(each) if isinstance(each, np.ndarray) else each for each in given]
    made.launch(kernel, grid, block, *places)
    assert engines.notes[kernel].engine == (COMPILE if threads else INTERPRET)
    return [
        made.read(place, np.uint8, each.nbytes).tobytes()
        for place, each in zip(places, given, strict=True)
        if isinstance(each, np.ndarray)
    ]


SIZE = 128
RNG = np.random.default_rng(7)
A, B = (RNG.standard_normal((SIZE, SIZE), dtype=np.float32) for _ in range(2))
MATRICES = (A, B, np.zeros_like(A), SIZE, SIZE, SIZE)
CASES: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], tuple[Any, ...]]] = {
    "matmul_tiled": ("matmul", (8, 8), (16, 16), MATRICES),
    "matmul_naive": ("matmul", (8, 8), (16, 16), MATRICES),
    "saxpy": ("saxpy", (300,), (128,), (2.5, A, B, SIZE * SIZE)),
}


@pytest.mark.parametrize("kernel", CASES)
def test_bits_are_equal(kernel: str, four_threads: list[str]) -> None:
    file, grid, block, given = CASES[kernel]
    text = (SAMPLES / f"{file}.ptx").read_text()
    wanted = run(text, 0, grid, block, *given, kernel=kernel)
    assert run(text, 1, grid, block, *given, kernel=kernel) == wanted
    assert len({*four_threads}) == 1
    for _ in range(5):
        assert run(text, 4, grid, block, *given, kernel=kernel) == wanted
    assert len({*four_threads}) > 1


def test_the_fault_of_the_lowest_block_is_reported() -> None:
    wanted = launched(FAULTY, INTERPRET, (200,), (32,), np.zeros(8, "u4"), 77)[1]
    assert "block (77, 0, 0)" in wanted
    for _ in range(5):
        assert launched(FAULTY, COMPILE, (200,), (32,), np.zeros(8, "u4"), 77)[1] == wanted


def test_an_interruption_ends_all_threads() -> None:
    """Also those of blocks that would never end."""
    text = FAULTY.replace("@%p bra L;", "bra L;")
    made, _ = device(text, COMPILE)
    real = made.execute

    def interrupt(done: float) -> None:
        if threading.active_count() > before + 1:
            raise KeyboardInterrupt

    before = threading.active_count()
    made.execute = lambda *given, **named: real(*given, **{**named, "on_progress": interrupt})
    with pytest.raises(KeyboardInterrupt):
        made.launch("faulty", (200,), (32,), made.buffer(np.zeros(8, "u4")), 0)
    assert threading.active_count() == before


def test_an_error_in_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    real = cores.CompiledRun

    def broken(*given: Any, **named: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            raise MemoryError
        return real(*given, **named)

    monkeypatch.setattr(cores, "CompiledRun", broken)
    with pytest.raises(MemoryError):
        launched(FAULTY, COMPILE, (2000,), (32,), np.zeros(2048, "u4"), 0)


def test_threads_find_allocations_while_others_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """An access finds its allocation while another thread reads those of earlier ones."""
    real, begun = access_cache.AccessCache._row, set[str]()

    def enters(cache: access_cache.AccessCache, access: Access, region: Region) -> list[int]:
        recent, name = cache._kernel.recent, threading.current_thread().name
        if name.startswith("blocks") and recent:
            begun.add(name)
            for entry in range(len(cache._kernel.code.sites.entries)):
                recent.setdefault(entry, region.base)
        return real(cache, access, region)

    monkeypatch.setattr(access_cache.AccessCache, "_row", enters)
    given = LATE_STORES, COMPILE, (2000,), (32,), np.zeros(2048, "u4"), 1999
    found, fault, _ = launched(*given)
    assert fault == ""
    assert begun
    assert np.frombuffer(found[0], "u4")[[0, 1024]].tolist() == [2000, 2000]


def test_without_threads(monkeypatch: pytest.MonkeyPatch, four_threads: list[str]) -> None:
    """A process that can start no threads runs all blocks in one."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    file, grid, block, given = CASES["saxpy"]
    text = (SAMPLES / f"{file}.ptx").read_text()
    assert run(text, 4, grid, block, *given, kernel="saxpy") == run(
        text, 0, grid, block, *given, kernel="saxpy"
    )
    assert len({*four_threads}) == 1


def test_no_more_threads_than_permitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that runs before the one that starts it goes on does not start another."""
    started = []
    start = threading.Thread.start

    def start_and_wait(thread: threading.Thread) -> None:
        start(thread)
        if thread.name.startswith("blocks"):  # not the one that waits for work of the compiler
            started.append(thread)
            thread.join()

    monkeypatch.setattr(threading.Thread, "start", start_and_wait)
    file, grid, block, given = CASES["saxpy"]
    run((SAMPLES / f"{file}.ptx").read_text(), 2, grid, block, *given, kernel="saxpy")
    assert len(started) == 1


def test_the_speed_of_short_blocks_becomes_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    blocks = BlockQueue(0, 100_000)
    spent = iter((1e-6, 2e-4, 2e-4))  # of the first block, and of as many as a thread takes
    while not blocks.is_known:
        _, count = blocks.take()
        blocks.complete(count, next(spent))
    assert blocks.left()[1] > 0


def test_a_launch_begins_with_the_speed_of_the_last_one() -> None:
    blocks = BlockQueue(0, 100, seconds=0.5)
    assert blocks.left() == (100, 50.0)
    assert blocks.spent() == 0.5


REDUCTION = """.visible .entry reduce(.param .u64 a, .param .u64 b, .param .u32 mask) {{
    .reg .b32 %r<8>; .reg .b64 %a<4>, %d<2>; .reg .pred %p;
    ld.param.u64 %a0, [a]; ld.param.u64 %a1, [b]; ld.param.u32 %r7, [mask];
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r0, 64, %r1;
    mul.lo.u32 %r3, %r2, -1640531535; shr.u32 %r4, %r3, 9; xor.b32 %r3, %r3, %r4;
    cvt.u64.u32 %d0, %r3; mul.lo.u64 %d0, %d0, -7046029254386353131;
    mov.u32 %r5, 0;
L:  add.u32 %r6, %r3, %r5; and.b32 %r6, %r6, %r7;
    setp.gt.u32 %p, %r6, 32; selp.b64 %a2, %a1, %a0, %p;
    mad.wide.u32 %a2, %r6, {size}, %a2;
    setp.ne.u32 %p, %r1, 5;
    @%p red.global.{operation} [%a2], %{operand};
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p, %r5, 40;
    @%p bra L;
    ret;
}}"""
"""The bits of ``mask`` select the addresses: one, several, or several of two allocations."""
REDUCTIONS = ("add.u32", "add.u64", "and.b32", "or.b64", "xor.b32")
REDUCTIONS += ("min.s32", "min.u32", "max.s32", "max.u64", "max.s64")


def reduction(operation: str) -> str:
    """A kernel that reduces in global memory."""
    wide = operation.endswith("64")
    return REDUCTION.format(
        operation=operation, size=8 if wide else 4, operand="d0" if wide else "r3"
    )


@pytest.mark.parametrize(
    ("operation", "mask"),
    [("add.u32", 0), ("max.s64", 63), *((operation, 31) for operation in REDUCTIONS)],
)
def test_reductions_are_atomic(
    operation: str, mask: int, monkeypatch: pytest.MonkeyPatch, four_threads: list[str]
) -> None:
    monkeypatch.setattr(cores.BlockThreads, "_is_slower", lambda *given: False)
    words = np.random.default_rng(3).integers(0, 1 << 32, (2, 128), np.uint32)
    text, rest = reduction(operation), ((200,), (64,), *words, mask)
    wanted = run(text, 0, *rest, kernel="reduce")
    assert run(text, 1, *rest, kernel="reduce") == wanted
    assert len({*four_threads}) == 1
    assert run(text, 4, *rest, kernel="reduce") == wanted
    assert len({*four_threads}) > 1


def test_no_reduction_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many that several threads execute at two addresses at the same time."""
    monkeypatch.setattr(cores.BlockThreads, "_is_slower", lambda *given: False)
    text = reduction("add.u32").replace("%r5, 40;", "%r5, 400;")
    rest = (500,), (64,), *np.zeros((2, 128), np.uint32), 1
    wanted = run(text, 1, *rest, kernel="reduce")
    for _ in range(3):
        assert run(text, 4, *rest, kernel="reduce") == wanted


def test_reductions_return_to_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """If they are slower beside other threads; so do the kernel's later launches."""
    started: list[object] = []
    start = cores.BlockThreads._start_another

    def noted(threads: Any) -> None:
        started.append(threads)
        start(threads)

    monkeypatch.setattr(cores.BlockThreads, "_start_another", noted)
    monkeypatch.setattr(cores.BlockThreads, "_is_slower", lambda *given: True)
    text, words = reduction("add.u32"), np.zeros((2, 128), np.uint32)
    made, engines = device(text, COMPILE)
    engines.threads = 4
    buffers = [made.buffer(each) for each in words]
    made.launch("reduce", (400,), (64,), *buffers, 31)
    assert started
    found = [made.read(each, np.uint8, words[0].nbytes).tobytes() for each in buffers]
    assert found == run(text, 0, (400,), (64,), *words, 31, kernel="reduce")
    for _ in range(20):  # the others may have run all blocks before the first thread compares
        started.clear()
        made.launch("reduce", (400,), (64,), *buffers, 31)
        if not started:
            break
    assert not started


ORDERS = {
    "st.global.u32 [%a], %r;": True,
    "red.shared.add.u32 [%r], 1;": True,
    "shfl.sync.bfly.b32 %r, %r, 1, 31, -1;": True,
    "red.global.add.u32 [%a], 1;": True,
    "atom.global.add.u32 %r, [%a], 1;": True,
    "red.global.add.u32 [%a], 1; red.global.add.s32 [%a], 2;": True,
    "red.global.add.u32 [%a], 1; red.shared.max.u32 [%r], 1;": True,
    "red.global.add.u32 [%a], 1; red.global.add.u64 [%a], 1;": False,
    "red.global.min.s32 [%a], 1; red.global.min.u32 [%a], 1;": False,
    "red.global.add.u32 [%a], 1; red.global.or.b32 [%a], 1;": False,
    "red.global.inc.u32 [%a], 1;": False,
    "red.global.add.f32 [%a], 0f3f800000;": False,
    "red.global.add.noftz.f16x2 [%a], %r;": False,
    "red.global.add.u32 [%a], 1; ld.relaxed.gpu.global.u32 %r, [%a]; add.u32 %r, %r, 1;": False,
    "atom.global.add.u32 %r, [%a], 1; st.global.u32 [%a], %r;": False,
    "ld.volatile.global.u32 %r, [%a]; st.global.u32 [%a], %r;": False,
    "st.release.gpu.global.u32 [%a], %r;": False,
}


@pytest.mark.parametrize("body", ORDERS)
def test_which_blocks_are_independent(body: str) -> None:
    program: ModuleCode = compiled(
        ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry test(.param .u64 p) {\n"
        f".reg .b32 %r; .reg .b64 %a; ld.param.u64 %a, [p]; mov.u32 %r, 0; {body} ret; }}"
    )
    assert are_blocks_independent(program.code["test"]) == ORDERS[body]


def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Engines.of_environment().threads == 4
    monkeypatch.setenv("CUDARUN_CPU_THREADS", "3")
    assert Engines.of_environment().threads == 3
    assert Engines.of_environment(threads=2).threads == 2
    for text in ("0", "-1", "two", "4096"):
        monkeypatch.setenv("CUDARUN_CPU_THREADS", text)
        assert Engines.invalid_variable() == ("CUDARUN_CPU_THREADS", "a number from 1 to 1024")


def test_a_fault_does_not_wait_for_later_blocks() -> None:
    """Blocks after the faulting one end, even if they would run for ever."""
    text = FAULTY.replace("@%p bra L;", "setp.gt.u32 %p, %r0, 5; @%p bra L;")
    fault = launched(text, COMPILE, (64,), (32,), np.zeros(8, "u4"), 5)[1]
    assert "block (5, 0, 0)" in fault
