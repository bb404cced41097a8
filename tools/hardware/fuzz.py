"""Random programs: the GPU and the emulated device give the same bits.

`tools.fuzz.programs` makes them, of instructions that both round exactly. All run in one process,
as none of them faults.
"""

from __future__ import annotations

from collections.abc import Iterator

from tools.hardware.bench import Bench, Check, check


def checks(bench: Bench) -> Iterator[Check]:
    """Compare so many programs."""
    driver = "cudarun.emulator.driver" if bench.is_emulated else "cuda.bindings.driver"
    count, seed = bench.options.programs, bench.options.seed
    done = bench.python("-m", "tools.fuzz.programs", driver, bench.ordinal, count, seed, limit=1800)
    bench.keep("programs.txt", done.text)
    good = done.exit_code == 0
    yield check(f"{count} random programs", good, done.out if good else done.text, done.seconds)
