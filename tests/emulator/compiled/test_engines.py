"""The selection of the engine, and its reasons."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

from cudarun.emulator import driver as cuda
from cudarun.emulator import engines as module
from cudarun.emulator.compiled import engine
from cudarun.emulator.compiled.control import warp_code
from cudarun.emulator.engines import AUTO, COMPILE, INTERPRET, NotCompiled
from cudarun.emulator.host.process import Process
from tests.emulator.compiled.engines import check_equal, device, interrupted_states, launched
from tests.support.tiers import patient

STORE = """.visible .entry store(.param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %a<3>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a2, %a0, %a1;
    BODY
    st.global.u32 [%a2], %r0;
    ret;
}"""


RECURSION = """.func down(.reg .b32 %x) {
    .reg .b32 %y; .reg .pred %p;
    setp.eq.u32 %p, %x, 0; @%p ret; bar.sync 0; sub.u32 %y, %x, 1; call down, (%y); ret;
}
"""


def text(body: str = "") -> str:
    return STORE.replace("BODY", body)


NOTES = {
    COMPILE: (COMPILE, ""),
    INTERPRET: (INTERPRET, ""),
    AUTO: (INTERPRET, "it takes less time than compiling"),
}


@pytest.mark.parametrize("mode", NOTES)
def test_the_engine_of_a_kernel_is_noted(mode: str) -> None:
    made, engines = device(text(), mode, tiers=patient())
    made.launch("store", (1,), (32,), made.buffer(np.zeros(32, "u4")))
    note = engines.notes["store"]
    assert note.kernel == "store"
    assert (note.engine, note.reason) == NOTES[mode]


ORDERED = "atom.global.add.u32 %r1, [%a0], 1; red.global.add.u32 [%a0], %r1;"
REASONS = {
    "{.reg .b32 %l; mov.u32 %l, 0; L: atom.global.add.u32 %r1, [%a2], %l; add.u32 %l, %l, 1; "
    ".reg .pred %p; setp.lt.u32 %p, %l, 3; @%p bra L; mov.u32 %r0, %r1;}": "an atomic operation "
    "in a loop, of floats or with a used result",
    ORDERED: "atomic operations whose order can be seen",
}


@pytest.mark.parametrize("body", REASONS)
def test_what_cannot_be_compiled_is_refused_and_named(body: str) -> None:
    made, engines = device(text(body), COMPILE)
    with pytest.raises(NotCompiled) as raised:
        made.launch("store", (1,), (32,), made.buffer(np.zeros(32, "u4")))
    assert REASONS[body].removesuffix(" (PTX line") in raised.value.reason
    assert engines.has_refused
    assert not engines.notes  # no engine has run it


@pytest.mark.parametrize("body", REASONS)
def test_visible_order_is_noted_where_it_is_permitted(body: str) -> None:
    made, engines = device(text(body), COMPILE, in_order=False)
    made.launch("store", (1,), (32,), made.buffer(np.zeros(32, "u4")))
    note = engines.notes["store"]
    assert note.engine == COMPILE
    assert note.reason == f"results can depend on the order of warps ({REASONS[body]})"


def large(count: int) -> str:
    """A kernel of many blocks with many registers."""
    values = "".join(f"ld.global.u32 %v{n}, [%a2+{4 * n}];\n" for n in range(count))
    blocks = "".join(
        f"setp.eq.u32 %p, %v{n}, %r0; @%p bra L{n};\nadd.u32 %v{n}, %v{n}, %r0;\nL{n}:\n"
        for n in range(count)
    )
    sums = "".join(f"add.u32 %r0, %r0, %v{n};\n" for n in range(count))
    return text(f"{{ .reg .pred %p; .reg .b32 %v<{count}>;\n{values}{blocks}{sums}}}")


def test_large_functions_keep_registers_in_memory() -> None:
    check_equal(large(50), (1,), (32,), np.arange(512, dtype="u4") % 7)


def test_huge_functions_are_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM takes many seconds for them."""
    monkeypatch.setattr(warp_code, "_MOST_OPERATIONS", 200)
    made, _ = device(large(60), COMPILE)
    with pytest.raises(NotCompiled) as raised:
        made.launch("store", (1,), (32,), made.buffer(np.zeros(4096, "u4")))
    assert raised.value.reason.startswith("a function of ")


def test_few_kernels_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_MOST_KERNELS", 2)
    monkeypatch.setattr(engine, "_compilations", {})
    for number in range(3):
        made, _ = device(text(f"add.u32 %r0, %r0, {number};"), COMPILE)
        place = made.buffer(np.zeros(32, "u4"))
        made.launch("store", (1,), (32,), place)
        made.launch("store", (1,), (32,), place)
        assert made.read(place, "u4", 32).tolist() == list(range(number, number + 32))
    assert len(engine._compilations) == 2


def test_compile_never_interprets() -> None:
    made, _ = device(
        text("atom.global.add.u32 %r1, [%a0], 1; red.global.inc.u32 [%a0], 5;"), COMPILE
    )
    with pytest.raises(NotCompiled, match=r"^kernel store cannot be compiled: atomic operations"):
        made.launch("store", (1,), (32,), made.buffer(np.zeros(32, "u4")))


def test_one_thread_has_no_order() -> None:
    body = "atom.global.add.u32 %r1, [%a0], 1; atom.global.exch.b32 %r0, [%a0], %r1;"
    made, engines = device(text(body), COMPILE)
    place = made.buffer(np.full(1, 7, "u4"))
    made.launch("store", (1,), (1,), place)
    assert made.read(place, "u4", 1).tolist() == [8]
    assert engines.notes["store"].reason == ""
    with pytest.raises(NotCompiled):
        made.launch("store", (1,), (2,), place)


def test_without_llvmlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_has_compiler", lambda: False)
    made, engines = device(text(), AUTO)
    made.launch("store", (1,), (32,), made.buffer(np.zeros(32, "u4")))
    note = engines.notes["store"]
    assert (note.engine, note.reason) == (
        INTERPRET,
        "llvmlite is not installed (pip install 'cudarun[fast]')",
    )


def test_the_driver_refuses_what_cannot_be_compiled(
    fresh_process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDARUN_CPU_ENGINE", COMPILE)
    assert cuda.cuInit(0)[0] == 0
    _, context = cuda.cuDevicePrimaryCtxRetain(0)
    cuda.cuCtxSetCurrent(context)
    image = (
        b".version 8.0\n.target sm_80\n.address_size 64\n"
        + (RECURSION + text("mov.u32 %r1, 3; call down, (%r1);")).encode()
    )
    _, loaded = cuda.cuModuleLoadData(image + b"\0")
    _, kernel = cuda.cuModuleGetFunction(loaded, b"store")
    _, memory = cuda.cuMemAlloc(128)
    values: Any = ((memory,), (None,))
    (result,) = cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, values, 0)
    assert result == cuda.CUresult.CUDA_ERROR_NOT_SUPPORTED
    assert cuda.engine_notes() == []
    assert [cuda.was_refused_by_engine() for _ in range(2)] == [True, False]
    cuda.select_engine(AUTO)
    (result,) = cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, values, 0)
    assert result == 0
    (note,) = cuda.engine_notes()
    assert note.engine == INTERPRET


def test_an_engine_that_does_not_exist(
    fresh_process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDARUN_CPU_ENGINE", "fast")
    assert cuda.cuInit(0)[0] == cuda.CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(ValueError, match="'fast' is not one of auto, interpret, compile"):
        cuda.select_engine("fast")


def test_an_interruption_ends_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that never ends gets calls in between, which raise what a signal handler raises."""
    endless = text("L: add.u32 %r0, %r0, 1; bra L;")
    made, _ = device(endless, COMPILE)
    calls = []

    def progress(done: float) -> None:
        calls.append(done)
        raise KeyboardInterrupt

    real = made.execute
    made.execute = lambda *given, **named: real(*given, **{**named, "on_progress": progress})
    with pytest.raises(KeyboardInterrupt):
        made.launch("store", (1,), (32,), made.buffer(np.zeros(32, "u4")))
    assert calls == [0.0]


def test_a_signal_ends_a_kernel() -> None:
    """Its handler runs when compiled code calls back; the error that it raises is not lost."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    body = """.reg .pred %p; ld.global.u32 %r1, [%a2]; setp.ne.u32 %p, %r1, 0;
L:  add.u32 %r0, %r0, 1; @%p bra L;"""
    made, _ = device(text(body), COMPILE)
    # Compiles the kernel: during that, the error could reach a destructor, where Python drops it.
    made.launch("store", (1,), (32,), made.buffer(np.zeros(32, "u4")))
    place = made.buffer(np.ones(32, "u4"))
    before = signal.signal(signal.SIGALRM, stop)
    try:
        for _ in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                made.launch("store", (1,), (32,), place)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_states_of_threads_are_reported() -> None:
    body = """
    .reg .pred %p; setp.ge.u32 %p, %r0, 32; @%p bra B;
L:  add.u32 %r1, %r1, 1; bra L;
B:  bar.sync 0;
"""
    states = interrupted_states(text(body), (2,), (64,))
    first, *rest = states.splitlines()
    assert first == "kernel store: 0 of 2 blocks have finished"
    (place,) = (number for number, line in enumerate(rest) if "add.u32 %r1, %r1, 1;" in line)
    assert rest[place - 1].startswith("  32 threads run: block (0, 0, 0), thread (0, 0, 0)")


def test_unwritten_bytes_are_tracked() -> None:
    made, _ = device(text(), COMPILE)
    place = made.buffer(np.zeros(64, "u4"))
    made.memory.mark_unwritten(place, 256)
    made.launch("store", (1,), (32,), place)
    assert made.memory.unwritten_at(place, 256).tolist() == [0] * 128 + [1] * 128


def test_progress_reaches_the_end() -> None:
    buffers, fault, _ = launched(text(), COMPILE, (3000,), (32,), np.zeros(32, "u4"))
    assert fault == ""
    assert np.frombuffer(buffers[0], "u4").tolist() == list(range(32))
