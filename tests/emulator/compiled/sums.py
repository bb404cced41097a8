"""A kernel whose launches begin in the interpreter and go on as compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudarun.emulator.compiled import cores, engine, queue
from cudarun.emulator.compiled.background import CompilerProcess
from cudarun.emulator.machine import launch as launches
from cudarun.emulator.tiers import Tiers
from tests.emulator.compiled.engines import device

LOOP = """.visible .entry sums(.param .u64 out) {
    .reg .b32 %r<6>; .reg .b64 %a<3>; .reg .pred %p;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r0, %r1, %r2, %r0;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a2, %a0, %a1;
    FIRST
    mov.u32 %r3, 0;
L:  mad.lo.u32 %r0, %r0, 1664525, 1013904223;
    BODY
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, 20;
    @%p bra L;
    st.global.u32 [%a2], %r0;
    ret;
}"""
PLAIN = LOOP.replace("FIRST", "").replace("BODY", "")
SMALL = 64 * 32  # lanes of a batch, so that launches have several


def launched(
    text: str, mode: str, blocks: int, times: int = 1, tiers: Tiers | None = None
) -> tuple[bytes, list[Any]]:
    """The memory after launches, and the note of each."""
    made, engines = device(text, mode, tiers=tiers)
    place = made.buffer(np.arange(blocks * 64, dtype="u4"))
    notes = []
    for _ in range(times):
        made.launch("sums", (blocks,), (64,), place)
        notes.append(engines.notes["sums"])
    return made.read(place, "u4", blocks * 64).tobytes(), notes


def delayed(monkeypatch: pytest.MonkeyPatch, asked: int) -> list[tuple[bool, int]]:
    """Let a launch have faster code when it asks for the n-th time, which it does for each block.

    Returns:
        The parts of launches: whether it is slower code, and the first block.
    """
    parts: list[tuple[bool, int]] = []
    times = 0
    ended, improve = CompilerProcess.has_ended, engine.KernelCompilation.improve
    begin = cores.BlockThreads.__init__

    def improved(compilation: engine.KernelCompilation) -> None:
        improve(compilation)
        monkeypatch.setattr(CompilerProcess, "has_ended", has_ended)

    def has_ended(process: CompilerProcess) -> bool:
        nonlocal times
        times += 1
        return times >= asked and ended(process)

    def begun(threads: Any, kernel: Any, *given: Any) -> None:
        parts.append((kernel.code.is_large, given[2]))
        begin(threads, kernel, *given)

    monkeypatch.setattr(engine.KernelCompilation, "improve", improved)
    monkeypatch.setattr(cores.BlockThreads, "__init__", begun)
    monkeypatch.setattr(cores, "_SECONDS_PER_THREAD", 1e9)
    monkeypatch.setattr(queue, "CHUNK_SECONDS", 0)
    monkeypatch.setattr(queue, "TRIAL_SECONDS", 0)
    monkeypatch.setattr(launches, "_LARGEST_BATCH", SMALL)
    return parts
