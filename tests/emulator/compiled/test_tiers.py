"""``auto``: the interpreter begins, another process compiles, and compiled code takes over."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.emulator import tiers
from cudarun.emulator.compiled import background, engine, runtime
from cudarun.emulator.compiled.background import CompilerProcess
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.engines import AUTO, COMPILE, INTERPRET
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine import launch as launches
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.tiers import KernelTier
from tests.emulator.compiled.engines import device
from tests.emulator.compiled.sums import LOOP, PLAIN, SMALL, delayed, launched
from tests.support.tiers import eager, patient


@pytest.mark.parametrize("text", [PLAIN, LOOP.replace("FIRST", "st.global.u32 [%a2], 1;")])
def test_compiled_code_runs_the_rest(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    text = text.replace("BODY", "ld.global.u32 %r4, [%a2]; add.u32 %r0, %r0, %r4;")
    found, notes = launched(text, AUTO, 100, 2)
    assert found == launched(text, INTERPRET, 100, 2)[0]
    assert [note.engine for note in notes] == [COMPILE, COMPILE]
    assert notes[1].reason == ""


def test_blocks_that_have_not_begun_count_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of four batches is too short by itself."""
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    notes = [launched(PLAIN, AUTO, blocks, 1, eager(least=400_000))[1][0] for blocks in (32, 128)]
    assert [note.engine for note in notes] == [INTERPRET, COMPILE]
    assert notes[1].reason == ""


@pytest.fixture
def unsaved(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory is copied before a launch, and no batch is small because of that."""
    monkeypatch.setattr(tiers, "_SAVED_AT_FIRST", 0)
    monkeypatch.setattr(tiers, "_SAVED_PER_THREAD", 0)
    monkeypatch.setattr(tiers, "_BATCHES", 1)


@pytest.mark.usefixtures("unsaved")
def test_a_batch_that_has_changed_memory_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    text = LOOP.replace("FIRST", "red.global.add.u32 [%a2], 1;").replace(
        "BODY", "ld.global.u32 %r4, [%a2]; add.u32 %r0, %r0, %r4;"
    )
    found, (note,) = launched(text, AUTO, 100)
    assert found == launched(text, INTERPRET, 100)[0]
    assert (note.engine, note.reason) == (
        COMPILE,
        "the first 32 of 100 blocks were interpreted",
    )


LATE = """.visible .entry sums(.param .u64 out) {
    .reg .b32 %r<6>; .reg .b64 %a<3>; .reg .pred %p;
    ld.param.u64 %a0, [out]; mov.u32 %r0, %ctaid.x; mul.wide.u32 %a1, %r0, 4;
    add.u64 %a1, %a0, %a1; setp.eq.u32 %p, %r0, 3; @%p bra DONE;
    WAIT: ld.volatile.global.u32 %r1, [%a0+12]; setp.eq.u32 %p, %r1, 0; @%p bra WAIT;
    mov.u32 %r2, 0;
    L: add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 1000; @%p bra L;
    DONE: red.global.add.u32 [%a1], 1; ret;
}"""


@pytest.mark.usefixtures("unsaved")
def test_blocks_that_have_ended_are_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that have changed nothing wait for a later one, which ends before them."""
    monkeypatch.setattr(launches, "_LARGEST_BATCH", 2 * 64)
    monkeypatch.setattr(launches, "_SMALLEST_BATCH", 2 * 64)
    made, _ = device(LATE, AUTO)
    place = made.buffer(np.zeros(4, "u4"))
    ask = tiers._Handover.__call__

    def later(decision: Any, executed: Any) -> bool:
        return made.read(place + 12, "u4", 1)[0] == 64 and ask(decision, executed)

    monkeypatch.setattr(tiers._Handover, "__call__", later)
    made.launch("sums", (4,), (64,), place)
    assert made.read(place, "u4", 4).tolist() == [64] * 4


def test_a_batch_that_has_changed_nothing_is_run_again() -> None:
    found, (note,) = launched(PLAIN, AUTO, 5)
    assert found == launched(PLAIN, INTERPRET, 5)[0]
    assert (note.engine, note.reason) == (COMPILE, "")


def test_a_kernel_of_thousands_of_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    text = LOOP.replace("FIRST", "").replace("20;", "2;")
    text = text.replace("BODY", "mad.lo.u32 %r0, %r0, %r0, %r3; add.u32 %r3, %r3, 0;\n" * 2500)
    found, notes = launched(text, AUTO, 100, 2)
    assert found == launched(text, INTERPRET, 100, 2)[0]
    assert [note.engine for note in notes] == [COMPILE, COMPILE]


def test_launches_of_one_kernel_count_together() -> None:
    """A launch of one batch without a loop makes no decision; the next one does."""
    text = PLAIN.replace("@%p bra L;", "")
    found, notes = launched(text, AUTO, 5, 3)
    assert found == launched(text, INTERPRET, 5, 3)[0]
    assert [note.engine for note in notes] == [INTERPRET, COMPILE, COMPILE]
    assert notes[0].reason == tiers._RUNNING


def test_the_engine_of_a_launch_that_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last block faults, in the first batch of a grid or after others."""
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    faults = "setp.eq.u32 %p, %r1, LAST; @%p st.global.u32 [%a1], 1;"
    notes = {}
    for last in (3, 99):
        text = LOOP.replace("FIRST", faults.replace("LAST", str(last))).replace("BODY", "")
        made, engines = device(text, AUTO)
        place = made.buffer(np.zeros(6400, "u4"))
        with pytest.raises(DeviceFault):
            made.launch("sums", (100,), (64,), place)
        note = engines.notes["sums"]
        notes[last] = note.engine, note.reason
    assert notes[3] == (INTERPRET, "the launch ended before the kernel was compiled")
    assert notes[99] == (COMPILE, "")


CHANGING = LOOP.replace("FIRST", "red.global.add.u32 [%a2], 1;").replace("BODY", "")


@pytest.mark.parametrize("blocks", [5, 100])
def test_a_launch_whose_memory_is_saved_begins_again(
    monkeypatch: pytest.MonkeyPatch, blocks: int
) -> None:
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    found, notes = launched(CHANGING, AUTO, blocks, 2)
    assert found == launched(CHANGING, INTERPRET, blocks, 2)[0]
    assert [(note.engine, note.reason) for note in notes] == [(COMPILE, "")] * 2


def test_what_others_write_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of another stream, and an allocation, while a launch that begins again runs."""
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    made, engines = device(CHANGING, AUTO)
    place, other = made.buffer(np.arange(320, dtype="u4")), made.buffer(np.zeros(4, "u4"))
    new = []
    begin = KernelTier._begin

    def begin_with_others(tier: KernelTier, launch: Launch) -> None:
        made.memory.bytes_at(other, 16)[4:8] = 7
        new.append(made.buffer(np.full(4, 9, "u4")))
        begin(tier, launch)

    monkeypatch.setattr(KernelTier, "_begin", begin_with_others)
    made.launch("sums", (5,), (64,), place)
    assert (engines.notes["sums"].engine, engines.notes["sums"].reason) == (COMPILE, "")
    assert made.read(place, "u4", 320).tobytes() == launched(CHANGING, INTERPRET, 5)[0]
    assert list(made.read(other, "u4", 4)) == [0, 0x0707_0707, 0, 0]
    assert list(made.read(new[0], "u4", 4)) == [9] * 4


def test_short_launches_are_not_saved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = []
    monkeypatch.setattr(tiers, "snapshot", lambda *given, **options: saved.append(given))
    _, notes = launched(CHANGING, AUTO, 5, 3, patient())
    assert [note.engine for note in notes] == [INTERPRET] * 3
    assert len(saved) == 1
    launched(PLAIN, AUTO, 5, tiers=patient())  # whose batches can begin again without it
    assert len(saved) == 1


@pytest.mark.usefixtures("unsaved")
def test_batches_are_small_until_compiled_code_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    monkeypatch.setattr(tiers, "_BATCHES", 8)
    monkeypatch.setattr(tiers, "_LEAST_LANES", 64)
    found, (note,) = launched(CHANGING, AUTO, 100)
    assert found == launched(CHANGING, INTERPRET, 100)[0]
    assert (note.engine, note.reason) == (COMPILE, "the first 4 of 100 blocks were interpreted")


@pytest.mark.usefixtures("unsaved")
@pytest.mark.parametrize(("cooperative", "sizes"), [(True, [100]), (False, [12, 88])])
def test_a_cooperative_launch_is_one_batch(
    monkeypatch: pytest.MonkeyPatch, cooperative: bool, sizes: list[int]
) -> None:
    """Its blocks wait for one another."""
    begun = []
    begin = Batch.begin

    def noted(batch: Batch, first: int, blocks: int) -> None:
        begun.append(blocks)
        begin(batch, first, blocks)

    monkeypatch.setattr(Batch, "begin", noted)
    monkeypatch.setattr(tiers, "_BATCHES", 8)
    monkeypatch.setattr(tiers, "_LEAST_LANES", 64)
    made, _ = device(CHANGING, AUTO, tiers=eager(least=1e30, batch=1e30))
    made.launch("sums", (100,), (64,), made.buffer(np.zeros(6400, "u4")), cooperative=cooperative)
    assert begun == sizes


@pytest.mark.usefixtures("unsaved")
def test_a_last_batch_that_has_changed_memory_stays_interpreted() -> None:
    text = CHANGING
    _, (note,) = launched(text, AUTO, 5)
    assert note.engine == INTERPRET
    assert note.reason == (
        "its last blocks were running, and had changed memory, before it was compiled"
    )


ORDERED = """.visible .entry tickets(.param .u64 out, .param .u64 counter) {
    .reg .b32 %r<6>; .reg .b64 %a<4>; .reg .pred %p;
    ld.param.u64 %a0, [out]; ld.param.u64 %a3, [counter];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r0, %r1, %r2, %r0;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a2, %a0, %a1;
    mov.u32 %r3, 0;
L:  atom.global.add.u32 %r4, [%a3], 1;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, 20;
    @%p bra L;
    st.global.u32 [%a2], %r4;
    ret;
}"""


def tickets(
    mode: str, blocks: int = 100, times: int = 2, **thresholds: float
) -> tuple[list[bytes], list[str]]:
    """The last ticket of each thread after each launch of a counter, and the notes."""
    tiers = eager(**{"least": 600_000, **thresholds})
    made, engines = device(ORDERED, mode, in_order=False, tiers=tiers)
    found, notes = [], []
    for _ in range(times):
        place, counter = made.buffer(np.zeros(blocks * 64, "u4")), made.buffer(np.zeros(1, "u4"))
        made.launch("tickets", (blocks,), (64,), place, counter)
        assert made.read(counter, "u4", 1) == [20 * 64 * blocks]
        found.append(made.read(place, "u4", blocks * 64).tobytes())
        note = engines.notes["tickets"]
        notes.append(f"{note.engine} {note.reason}")
    return found, notes


def test_visible_order_is_the_same_in_every_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also if the machine code is in the cache."""
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    monkeypatch.delenv("CUDARUN_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = tickets(AUTO)
    assert first[1] == [
        "compile the first 64 of 100 blocks were interpreted; results can depend on the order of "
        "warps (an atomic operation in a loop, of floats or with a used result)",
        "compile results can depend on the order of "
        "warps (an atomic operation in a loop, of floats or with a used result)",
    ]
    assert first[0] != tickets(INTERPRET)[0]  # it is visible
    for _ in range(2):
        monkeypatch.setattr(engine, "_compilations", {})
        assert tickets(AUTO) == first


# Sums of floats, whose rounding shows the order.
ROUNDED = """.visible .entry sums(.param .u64 out) {
    .reg .b32 %r<6>; .reg .b64 %a; .reg .f32 %f<3>; .reg .pred %p;
    ld.param.u64 %a, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, 0;
    mad.lo.u32 %r3, %r1, 64, %r0; mad.lo.u32 %r3, %r3, 1664525, 1013904223;
L:  mad.lo.u32 %r3, %r3, 1664525, 1013904223;
    cvt.rn.f32.s32 %f0, %r3;
    red.global.add.f32 [%a], %f0;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 20;
    @%p bra L;
    ret;
}"""


def test_visible_order_is_that_of_slower_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes are preempted after as many jumps, whenever faster code takes over."""
    monkeypatch.setattr(runtime, "_MOST_JUMPS", 64)
    found = []
    for asked in (1, 3, 10, 10000):
        monkeypatch.setattr(engine, "_compilations", {})
        with monkeypatch.context() as patch:
            parts = delayed(patch, asked)
            made, _ = device(ROUNDED, AUTO, in_order=False, tiers=eager(improved=0, least=600_000))
            place = made.buffer(np.zeros(1, "f4"))
            made.launch("sums", (100,), (64,), place)
        assert [is_slow for is_slow, _ in parts] == ([asked > 1] + [False] * (1 < asked < 100))
        found.append((made.read(place, "u4", 1)[0], parts))
    assert len({result for result, _ in found}) == 1, found


@pytest.mark.usefixtures("unsaved")
def test_a_running_batch_of_visible_order_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    _, notes = tickets(AUTO, blocks=32, times=4)
    assert [note.partition(" ")[0] for note in notes] == [INTERPRET, INTERPRET, INTERPRET, COMPILE]


def test_what_cannot_be_compiled_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **named: object) -> None:
        raise Untraceable("instruction sin.approx.f32")

    monkeypatch.setattr(engine, "KernelModule", refuse)
    _, (note,) = launched(PLAIN, AUTO, 5)
    assert (note.engine, note.reason) == (INTERPRET, "instruction sin.approx.f32")


def test_short_launches_do_not_import_the_compiler() -> None:
    program = (
        "import sys; from tests.emulator.compiled.test_tiers import launched, patient, PLAIN;"
        "[sys.modules.pop(name) for name in [*sys.modules]"
        " if name.startswith(('llvmlite', 'cudarun.emulator.compiled'))];"
        "launched(PLAIN, 'auto', 5, tiers=patient());"
        "assert not [name for name in sys.modules"
        " if name.startswith(('llvmlite', 'cudarun.emulator.compiled'))]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_compiler_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_PROGRAM", "raise SystemExit(1)")
    _, (note,) = launched(PLAIN, AUTO, 5)
    assert (note.engine, note.reason) == (INTERPRET, "LLVM failed to compile it")
    monkeypatch.setattr(engine, "_compilations", {})
    monkeypatch.setattr(sys, "executable", "/nonexistent")
    _, (note,) = launched(PLAIN, AUTO, 5)
    assert note.reason.startswith("the compiler cannot be started: ")


def test_a_compiler_that_fails_when_the_launch_would_begin_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "_PROGRAM", "raise SystemExit(1)")
    found, notes = tickets(AUTO, blocks=32, times=1, least=50_000)
    assert notes == ["interpret LLVM failed to compile it"]
    assert found == tickets(INTERPRET, blocks=32, times=1)[0]


def test_the_process_compiles() -> None:
    process = CompilerProcess("define i32 @answer() {\n  ret i32 42\n}\n")
    process._process.wait()
    assert process.has_ended()
    assert process.result()


def test_a_fork_does_not_end_the_process() -> None:
    process = CompilerProcess("define i32 @answer() {\n  ret i32 42\n}\n")
    background._end(process._process, -1, parent=0)
    assert process._process.wait() == 0
    assert process.result()


ENDS = {
    "exit": ("", 0),
    "exit at once": ("os._exit(3)", 3),
    "Ctrl-C": ("signal.signal(2, signal.default_int_handler); os.kill(os.getpid(), 2)", -2),
    "SIGKILL": ("os.kill(os.getpid(), 9)", -9),
}


@pytest.mark.parametrize("name", ENDS)
def test_the_process_ends_with_its_parent(name: str) -> None:
    end, code = ENDS[name]
    program = f"""
import os, signal
from cudarun.emulator.compiled import background
background._PROGRAM = background._PROGRAM.replace(
    "compile_descriptor(int", "import cudarun.emulator.compiled.jit as jit, time\\n"
    "jit.object_files = lambda text: time.sleep(1e6)\\ncompile_descriptor(int")
process = background.CompilerProcess("")
print(process._process.pid, flush=True)
{end}
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert ran.returncode == code
    number = int(ran.stdout)
    while is_running(number):
        time.sleep(0.01)


def is_running(number: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_the_states_of_threads_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No block runs when the last one of a part of the launch has ended."""
    found = []

    def ended(run: Any) -> bool:
        more = real(run)
        found.append(run.thread_states())
        return more

    real = runtime.CompiledRun.run
    monkeypatch.setattr(runtime.CompiledRun, "run", ended)
    launched(PLAIN, COMPILE, 2)
    assert found
    assert set(found) == {None}


def test_the_states_of_threads_before_the_first_callback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block runs, but its code has called nothing, and has no place that calls back."""
    found = []

    def begun(run: Any) -> bool:
        assert not run._sites
        running = run._contexts[:, layout.RUNNING // 8]
        running[0] = 1
        found.append(run.thread_states())
        running[0] = 0
        return real(run)

    real = runtime.CompiledRun.run
    monkeypatch.setattr(runtime.CompiledRun, "run", begun)
    text = """.visible .entry spin() { .reg .b64 %a<3>; .reg .pred %p;
        mov.u64 %a0, %clock64;
    L:  mov.u64 %a1, %clock64; sub.u64 %a2, %a1, %a0; setp.lt.u64 %p, %a2, 100;
        @%p bra L; ret; }"""
    device(text, COMPILE)[0].launch("spin", (1,), (1,))
    assert found
    assert None not in found
