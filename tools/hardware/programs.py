"""The programs of ``tests/programs``: two runs and the emulated device leave the same buffers.

But for those that ``tests/programs/inexact.toml`` names. What the GPU computed is kept in
``recorded/``, to be committed as ``tests/programs/recorded/``, where tests without a GPU find it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from tests.support import programs
from tests.support.programs import CHAPTERS, Outcome, difference
from tools.hardware.bench import Bench, Check, check, guarded, skipped

EMULATED = "cpu"


def checks(bench: Bench) -> Iterator[Check]:
    """Compare chapter by chapter; the emulated device works ahead."""
    programs.RECORDED = bench.out / "recorded"
    programs.RECORDED.mkdir(parents=True, exist_ok=True)
    wanted = [chapter for chapter in CHAPTERS if bench.wants(chapter)]
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1)) as pool:
        emulated = {chapter: pool.submit(outcomes, chapter, EMULATED) for chapter in wanted}
        for chapter in wanted:
            yield from guarded(chapter, compared(chapter, bench.device, emulated[chapter]))


def outcomes(chapter: str, device: str) -> list[Outcome]:
    """Run a chapter in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="cudarun-programs-") as folder:
        return programs.run(chapter, device, Path(folder))


def compared(chapter: str, device: str, emulated: Future[list[Outcome]]) -> Iterator[Check]:
    """Run a chapter on the GPU, twice; a check for each program."""
    first, second = outcomes(chapter, device), outcomes(chapter, device)
    here = emulated.result()
    for one, again, other in zip(first, second, here, strict=True):
        name = f"{chapter}: {one.name}"
        if one.verdict == "skipped":
            yield skipped(name, one.reason)
            continue
        wrong = [*failure(one, device), *failure(other, EMULATED)]
        wrong += [f"two runs: {line}" for line in differences(one, again)]
        wrong += [f"emulated: {line}" for line in differences(one, other)]
        yield check(name, not wrong, "\n".join(wrong))
    if not any(outcome.verdict == "failed" for outcome in first):
        programs.record(chapter, first)


def failure(outcome: Outcome, device: str) -> Iterator[str]:
    """Why a program failed, where it did."""
    if outcome.verdict == "failed":
        yield f"on {device}: {outcome.reason}"


def differences(one: Outcome, other: Outcome) -> Iterator[str]:
    """Where two devices, or two runs, do not agree."""
    if other.verdict == "skipped":
        return
    if one.printed != other.printed:
        yield f"printed {one.printed!r} and {other.printed!r}"
    for name, wanted in one.buffers.items():
        got = other.buffers.get(name, b"")
        differs = difference(one.name, name, one.types.get(name, ""), got, wanted)
        if differs is not None:
            yield differs
